// How fast a counter grows, over the last seconds.

export class RateMeter {
  private points: { ms: number; total: number }[] = [];
  private readonly windowMs: number;

  constructor(windowMs: number) {
    this.windowMs = windowMs;
  }

  // A counter that falls began anew.
  add(ms: number, total: number): void {
    const last = this.points.at(-1);
    if (last && total < last.total) this.points = [];
    this.points.push({ ms, total });
    // The one at the window's edge stays, so that the rate is of the whole window.
    while (this.points.length > 2 && (this.points[1]?.ms ?? ms) <= ms - this.windowMs) this.points.shift();
  }

  // Per second; undefined: it was looked at once only.
  perSecond(): number | undefined {
    const first = this.points[0];
    const last = this.points.at(-1);
    if (!first || !last || last.ms <= first.ms) return undefined;
    return ((last.total - first.total) * 1000) / (last.ms - first.ms);
  }
}

// One meter for each name.
export class RateMeters {
  private meters = new Map<string, RateMeter>();
  private readonly windowMs: number;

  constructor(windowMs: number) {
    this.windowMs = windowMs;
  }

  add(name: string, ms: number, total: number): number | undefined {
    let meter = this.meters.get(name);
    if (!meter) this.meters.set(name, (meter = new RateMeter(this.windowMs)));
    meter.add(ms, total);
    return meter.perSecond();
  }

  keep(names: string[]): void {
    for (const name of this.meters.keys()) if (!names.includes(name)) this.meters.delete(name);
  }
}
