// The page is chosen by what follows the '#': #/recordings?channel=l0/c0.
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  page: string;
  rest: string;
  query: URLSearchParams;
}

// A name that somebody has typed may be none.
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [page = '', ...rest] = path.split('/');
  return { page, rest: rest.map(decoded).join('/'), query: new URLSearchParams(query) };
}

export function linkTo(page: string, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${page}${text === '' ? '' : `?${text}`}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const change = () => setRoute(routeOf(location.hash));
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return route;
}
