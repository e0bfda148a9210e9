// Names as long as strangers make them: cut where there is no room, with the whole in a tooltip. What comes last tells recordings
// apart and is never cut.

function parts(text: string): [string, string] {
  const at = text.lastIndexOf('/') + 1;
  return [text.slice(0, at), text.slice(at)];
}

export function Name({ text, href }: { text: string; href?: string }) {
  const [head, tail] = parts(text);
  const inside = (
    <>
      {head && <span class="head">{head}</span>}
      <span class={head ? 'tail' : 'head'}>{tail}</span>
    </>
  );
  if (href === undefined) {
    return (
      <span class="cut" title={text}>
        {inside}
      </span>
    );
  }
  return (
    <a class="cut" href={href} title={text} aria-label={text}>
      {inside}
    </a>
  );
}
