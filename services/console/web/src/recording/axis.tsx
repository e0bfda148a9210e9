// Ticks of an axis that fills the width of its place: both ends, and what lies between in equal steps.

interface Props {
  name: string; // by which it is known to tests
  texts: string[];
}

const anchorOf = (index: number, ticks: number) => (index === 0 ? 'start' : index === ticks - 1 ? 'end' : 'middle');

export function Axis({ name, texts }: Props) {
  const at = (index: number) => `${(100 * index) / (texts.length - 1)}%`;
  return (
    <svg class="axis" data-axis={name} aria-hidden="true">
      {texts.map((text, index) => (
        <g key={index}>
          <line x1={at(index)} x2={at(index)} y1="0" y2="5" />
          <text x={at(index)} y="18" text-anchor={anchorOf(index, texts.length)}>
            {text}
          </text>
        </g>
      ))}
    </svg>
  );
}
