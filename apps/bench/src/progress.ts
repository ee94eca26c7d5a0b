import { SingleBar } from "cli-progress";
import { formatElapsed, formatNumber } from "./results/format.ts";

/** The form of progress: a redrawn line, plain lines, lines of JSON, or none. */
export type ProgressMode = "bar" | "lines" | "json" | "none";

export interface ProgressOptions {
  readonly mode: ProgressMode;
  /** Interval of plain lines. */
  readonly intervalMs: number;
  readonly stream: NodeJS.WriteStream;
  readonly job: string;
}

export interface PhaseOptions {
  readonly name: string;
  readonly unit: string;
  /** Undefined if unknown: then there is no percentage. */
  readonly total: number | undefined;
  /** A phase that is limited by time, not by a number. */
  readonly expectedMs: number | undefined;
}

/** The state of a phase at a moment. */
interface Status {
  readonly job: string;
  readonly phase: string;
  readonly step: number;
  readonly done: number;
  readonly total: number | undefined;
  readonly unit: string;
  readonly percent: number | undefined;
  readonly ratePerSecond: number;
  readonly averagePerSecond: number;
  readonly elapsedMs: number;
  readonly leftMs: number | undefined;
  readonly errors: number;
}

const BAR_FPS = 5;
const TURN_MS = 200;
/** The remaining time is estimated from this share of a phase on. */
const ESTIMATE_FROM_PERCENT = 5;
const ESTIMATE_FROM_MS = 5000;

/** Progress of the whole run, on stderr: stdout is for the result. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #runStartMs: number = performance.now();
  #bar: SingleBar | undefined;
  #phase: PhaseOptions | undefined;
  #step = 0;
  #startMs = 0;
  #done = 0;
  #errors = 0;
  #rate = 0;
  #rateMs = 0;
  #rateDone = 0;
  #shownMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  begin(phase: PhaseOptions): void {
    this.#closeBar();
    this.#phase = phase;
    this.#step++;
    this.#startMs = performance.now();
    this.#rateMs = this.#startMs;
    this.#done = 0;
    this.#errors = 0;
    this.#rate = 0;
    this.#rateDone = 0;
    this.#openBar(phase);
    if (this.#options.mode !== "bar") this.#show();
    this.#timer ??= setInterval(() => this.#turn(), TURN_MS).unref();
  }

  /** The phase's time starts now, not when it was announced. */
  restartClock(): void {
    this.#startMs = performance.now();
  }

  advance(done: number, errors = 0): void {
    this.#done = done;
    this.#errors = errors;
  }

  /** A line of its own, at once: the answer to a signal, or a message. */
  say(text: string): void {
    if (this.#options.mode === "none") return;
    if (this.#options.mode === "json") {
      this.#write(JSON.stringify({ job: this.#options.job, note: text }));
      return;
    }
    // A bar is drawn on the last line: the message goes above it.
    if (this.#bar !== undefined) this.#options.stream.write("\r\x1b[K");
    this.#write(text);
  }

  /** Shows the progress at once. */
  status(): void {
    if (this.#phase !== undefined) this.say(describe(this.#status(this.#phase)));
  }

  end(): void {
    this.#closeBar();
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#phase = undefined;
  }

  #turn(): void {
    const phase = this.#phase;
    if (phase === undefined) return;
    const nowMs = performance.now();
    if (nowMs - this.#rateMs >= 1000) {
      this.#rate = ((this.#done - this.#rateDone) / (nowMs - this.#rateMs)) * 1000;
      this.#rateMs = nowMs;
      this.#rateDone = this.#done;
    }
    if (this.#bar !== undefined) this.#drawBar(phase);
    else if (nowMs - this.#shownMs >= this.#options.intervalMs) this.#show();
  }

  #show(): void {
    const phase = this.#phase;
    const { mode } = this.#options;
    if (phase === undefined || mode === "none" || mode === "bar") return;
    this.#shownMs = performance.now();
    const status = this.#status(phase);
    this.#write(mode === "json" ? JSON.stringify(status) : describe(status));
  }

  #status(phase: PhaseOptions): Status {
    const nowMs = performance.now();
    const phaseMs = nowMs - this.#startMs;
    const share = shareOf(phase, this.#done, phaseMs);
    const mayEstimate =
      share !== undefined && share > 0 && (share * 100 >= ESTIMATE_FROM_PERCENT || phaseMs >= ESTIMATE_FROM_MS);
    const average = phaseMs > 0 ? (this.#done / phaseMs) * 1000 : 0;
    return {
      job: this.#options.job,
      phase: phase.name,
      step: this.#step,
      done: this.#done,
      total: phase.total,
      unit: phase.unit,
      percent: share === undefined ? undefined : Math.floor(share * 100),
      ratePerSecond: this.#rate === 0 ? average : this.#rate,
      averagePerSecond: average,
      elapsedMs: nowMs - this.#runStartMs,
      leftMs: mayEstimate ? phaseMs / share - phaseMs : undefined,
      errors: this.#errors,
    };
  }

  #openBar({ name, total, expectedMs }: PhaseOptions): void {
    if (this.#options.mode !== "bar") return;
    const hasEnd = total !== undefined || expectedMs !== undefined;
    this.#bar = new SingleBar({
      stream: this.#options.stream,
      fps: BAR_FPS,
      hideCursor: true,
      clearOnComplete: true,
      barsize: 24,
      format: hasEnd ? `${name} [{bar}] {percentage} % {text}` : `${name} {text}`,
    });
    this.#bar.start(1000, 0, { text: "" });
  }

  #drawBar(phase: PhaseOptions): void {
    const { done, unit, ratePerSecond, leftMs, errors } = this.#status(phase);
    const share = shareOf(phase, this.#done, performance.now() - this.#startMs) ?? 0;
    const text = [
      ...(unit === "" ? [] : [`${formatNumber(done)} ${unit}, ${formatNumber(ratePerSecond)}/s`]),
      ...(leftMs === undefined ? [] : [`${formatElapsed(leftMs)} left`]),
      ...(errors > 0 ? [`${errors} errors`] : []),
    ].join(", ");
    this.#bar?.update(Math.min(999, Math.round(share * 1000)), { text });
  }

  #closeBar(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #write(line: string): void {
    this.#options.stream.write(`${line}\n`);
  }
}

function shareOf({ total, expectedMs }: PhaseOptions, done: number, phaseMs: number): number | undefined {
  if (total !== undefined && total > 0) return Math.min(1, done / total);
  return expectedMs === undefined || expectedMs === 0 ? undefined : Math.min(1, phaseMs / expectedMs);
}

function describe(status: Status): string {
  const { job, phase, step, done, total, unit, percent, ratePerSecond, averagePerSecond, elapsedMs, leftMs, errors } =
    status;
  return [
    `${job}: phase ${step}, ${phase}`,
    // A phase without a count has no number and no rate.
    ...(unit === "" ? [] : [`${formatNumber(done)}${total === undefined ? "" : ` of ${formatNumber(total)}`} ${unit}`]),
    ...(percent === undefined ? [] : [`${percent} %`]),
    ...(unit === "" ? [] : [`${formatNumber(ratePerSecond)}/s now, ${formatNumber(averagePerSecond)}/s on average`]),
    `${formatElapsed(elapsedMs)} elapsed`,
    ...(leftMs === undefined ? [] : [`${formatElapsed(leftMs)} left`]),
    `${errors} errors`,
  ].join("; ");
}
