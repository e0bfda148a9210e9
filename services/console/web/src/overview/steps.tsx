// The way from a fresh node to its first recording.
import { call } from '../api.ts';
import { shortName } from '../format.ts';
import { useLoad } from '../load.ts';
import { linkTo } from '../route.ts';
import { Badge, Panel } from '../ui/basics.tsx';

const AGAIN_MS = 3000;

// Of each kind the first there is.
interface There {
  lun: string | undefined;
  channel: string | undefined;
  recording: string | undefined;
}

async function firstOf(method: string, request: object, key: string, signal: AbortSignal): Promise<string | undefined> {
  const page = await call<Record<string, { name: string }[] | undefined>>('CatalogService', method, { ...request, page_size: 1 }, { signal });
  return page[key]?.[0]?.name;
}

const whatIsThere = async (signal: AbortSignal): Promise<There> => ({
  lun: await firstOf('ListLuns', {}, 'luns', signal),
  channel: await firstOf('ListChannels', { parent: 'luns/-' }, 'channels', signal),
  recording: await firstOf('ListRecordings', { parent: 'luns/-/channels/-' }, 'recordings', signal),
});

interface StepProps {
  isDone: boolean;
  isNext: boolean;
  title: string;
  text: string;
  action: string;
  href: string;
}

function Step({ isDone, isNext, title, text, action, href }: StepProps) {
  return (
    <li>
      <div>
        <h3>{title}</h3>
        <p>{text}</p>
      </div>
      {isDone ? (
        <Badge tone="good">done</Badge>
      ) : isNext ? (
        <a class="button main" href={href}>
          {action}
        </a>
      ) : (
        <button type="button" disabled>
          {action}
        </button>
      )}
    </li>
  );
}

// Nothing once there is a recording.
export function FirstSteps() {
  const loaded = useLoad(whatIsThere, 'first steps', AGAIN_MS);
  const there = loaded.value;
  if (!there || there.recording) return null;
  const { lun, channel } = there;
  return (
    <Panel title="First steps">
      <ol class="steps">
        <Step
          isDone={lun !== undefined}
          isNext={lun === undefined}
          title="Create a LUN"
          text="A LUN is a volume of this node: a directory, a device, or memory. It holds recordings."
          action="New LUN"
          href={linkTo('luns', { new: 'lun' })}
        />
        <Step
          isDone={channel !== undefined}
          isNext={lun !== undefined && channel === undefined}
          title="Create a channel"
          text="A channel sets the sample type, sample rate and block size of its recordings."
          action="New channel"
          href={linkTo('luns', { new: 'channel', lun: lun ? shortName(lun) : '' })}
        />
        <Step
          isDone={false}
          isNext={channel !== undefined}
          title="Record"
          text="A worker sends samples into the channel: a test signal, a file, or network packets."
          action="Record"
          href={linkTo('record', { channel: channel ? shortName(channel) : '' })}
        />
      </ol>
    </Panel>
  );
}
