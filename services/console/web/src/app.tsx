// The frame of every page: who answers, where one can go, and the page that the address names.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { read } from './api.ts';
import icon from './icon.svg';
import { DoctorPage } from './doctor/doctor.tsx';
import { time } from './format.ts';
import { JobsPage } from './jobs/jobs.tsx';
import { PlayPage } from './jobs/play.tsx';
import { RecordPage } from './jobs/record.tsx';
import { useLoad, usePresence } from './load.ts';
import { LunsPage } from './luns/luns.tsx';
import { Overview } from './overview/overview.tsx';
import { RecordingPage } from './recording/recording.tsx';
import { RecordingsPage } from './recordings/recordings.tsx';
import { type Route, useRoute } from './route.ts';
import type { ConsoleInfo } from './types.ts';
import { Empty, Failure } from './ui/basics.tsx';

const PAGES: [string, string][] = [
  ['', 'Overview'],
  ['luns', 'LUNs'],
  ['recordings', 'Recordings'],
  ['record', 'Record'],
  ['play', 'Play'],
  ['jobs', 'Jobs'],
  ['doctor', 'Doctor'],
];

function Page({ route, info }: { route: Route; info: ConsoleInfo }) {
  switch (route.page) {
    case '':
      return <Overview info={info} />;
    case 'luns':
      return <LunsPage query={route.query} />;
    case 'recordings':
      return <RecordingsPage query={route.query} />;
    case 'recording':
      return <RecordingPage key={route.rest} name={route.rest} />;
    case 'record':
      return <RecordPage info={info} query={route.query} />;
    case 'play':
      return <PlayPage info={info} query={route.query} />;
    case 'jobs':
      return <JobsPage info={info} />;
    case 'doctor':
      return <DoctorPage info={info} />;
    default:
      return <Empty>Page not found.</Empty>;
  }
}

const titleOf = (route: Route) =>
  route.page === 'recording' ? 'Recording' : (PAGES.find(([page]) => page === route.page)?.[1] ?? 'Not found');

function Frame({ route, info, children }: { route: Route; info: ConsoleInfo | undefined; children: ComponentChildren }) {
  const section = route.page === 'recording' ? 'recordings' : route.page;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}>
        Skip to the content
      </a>
      <header class="top">
        <p class="brand">
          <img src={icon} alt="" width="22" height="22" />
          Tapedeck
        </p>
        <nav aria-label="Pages">
          {PAGES.map(([page, title]) => (
            <a key={page} href={`#/${page}`} aria-current={page === section ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <p class="who">
          {info && `${info.node} ${info.version}`}
          {info?.identity && ` · ${info.identity}`}
        </p>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

// A page that asks for nothing else finds out by this.
const ASK_AGAIN_MS = 3000;

function Away({ seenMs }: { seenMs: number }) {
  return (
    <p class="failure" role="alert">
      The storage node does not answer. It was last seen at <time data-seen={seenMs}>{time(new Date(seenMs).toISOString())}</time>. The page shows the values of that time.
    </p>
  );
}

export function App() {
  const route = useRoute();
  const info = useLoad((signal) => read<ConsoleInfo>('/api/console', signal), 'console', ASK_AGAIN_MS);
  const { isAway, seenMs } = usePresence();
  const title = titleOf(route);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${title} · Tapedeck`;
    if (!first.current) document.getElementById('main')?.focus();
    first.current = false;
  }, [title, route.rest]);
  return (
    <Frame route={route} info={info.value}>
      <h1>{title}</h1>
      {isAway && seenMs > 0 ? <Away seenMs={seenMs} /> : <Failure error={info.error} />}
      <div class={isAway ? 'page stale' : 'page'}>{info.value && <Page route={route} info={info.value} />}</div>
    </Frame>
  );
}
