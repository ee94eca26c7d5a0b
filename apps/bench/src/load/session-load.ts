import { AskingConnection } from "../connections/asking-connection.ts";
import { type Host, sourceAddress } from "../connections/hosts.ts";
import { closeTemplate } from "../connections/request-template.ts";
import { waitUntil } from "../wait-until.ts";
import { ErrorCounts } from "./error-counts.ts";
import { GeneratorGauge, type GeneratorLoad } from "./generator-gauge.ts";
import { LatencyRecorder } from "./latency-recorder.ts";
import type { Performer } from "./performer.ts";

/** Many sessions: opened, idle, disconnected and resumed all at once, closed. */
export interface SessionJob {
  readonly kind: "sessions";
  readonly hosts: readonly Host[];
  readonly sessions: number;
  /** Number of sessions opened at a time. */
  readonly opening: number;
  readonly idleMs: number;
  readonly sessionTimeoutMs: number;
}

export interface SessionOutcome {
  readonly opened: number;
  readonly openMs: number;
  readonly resumed: number;
  /** From the disconnection of all to the last resumed session. */
  readonly stormMs: number;
  /** Repeated connection attempts in the storm. */
  readonly retries: number;
  readonly closed: number;
  readonly closeMs: number;
  /** `storm`: each session's own time from the disconnection. */
  readonly latencies: Readonly<Record<"open" | "storm" | "close", Int32Array>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly generator: Readonly<Record<"open" | "idle" | "storm" | "close", GeneratorLoad>>;
}

/** A session that could not be resumed. */
export const SESSION_LOST = "SESSION_LOST";
const RETRY_MS = 20;
const PING_TURN_MS = 250;

export class SessionLoad implements Performer<SessionOutcome> {
  total = 0;
  readonly #job: SessionJob;
  readonly #sessions: readonly AskingConnection[];
  readonly errors: ErrorCounts = new ErrorCounts();
  readonly #recorders = { open: new LatencyRecorder(), storm: new LatencyRecorder(), close: new LatencyRecorder() };
  #retries = 0;

  constructor(job: SessionJob) {
    this.#job = job;
    const { hosts, sessionTimeoutMs } = job;
    this.#sessions = Array.from({ length: job.sessions }, (_, i) => {
      const host = hosts[i % hosts.length] as Host;
      return new AskingConnection(i, { host, localAddress: sourceAddress(host, i), sessionTimeoutMs });
    });
  }

  /** Opening is measured. */
  async open(): Promise<void> {}

  async run(startMs: number, signal: AbortSignal, enter: (part: string) => void): Promise<SessionOutcome> {
    await waitUntil(startMs, signal);
    const pings = setInterval(() => this.#pingIdle(), PING_TURN_MS);
    try {
      enter("open");
      const open = await this.#measure(() => this.#openAll(signal));
      enter("idle");
      const idle = await this.#measure(async () => {
        await waitUntil(performance.now() + this.#job.idleMs, signal);
        return this.#alive().length;
      });
      enter("storm");
      const storm = await this.#measure(() => this.#storm(signal));
      enter("close");
      const close = await this.#measure(() => this.#closeAll());
      const recorders = this.#recorders;
      return {
        opened: open.count,
        openMs: open.tookMs,
        resumed: storm.count,
        stormMs: storm.tookMs,
        retries: this.#retries,
        closed: close.count,
        closeMs: close.tookMs,
        latencies: { open: recorders.open.counts, storm: recorders.storm.counts, close: recorders.close.counts },
        errors: this.errors.toRecord(),
        generator: {
          open: open.generator,
          idle: idle.generator,
          storm: storm.generator,
          close: close.generator,
        },
      };
    } finally {
      clearInterval(pings);
      for (const { connection } of this.#sessions) connection.destroy();
    }
  }

  async #measure(
    part: () => Promise<number>,
  ): Promise<{ readonly count: number; readonly tookMs: number; readonly generator: GeneratorLoad }> {
    const gauge = new GeneratorGauge();
    const startMs = performance.now();
    const count = await part();
    return { count, tookMs: performance.now() - startMs, generator: gauge.stop() };
  }

  async #openAll(signal: AbortSignal): Promise<number> {
    await this.#someAtATime(this.#sessions, async (session) => {
      if (signal.aborted) return;
      const startMs = performance.now();
      await session.open();
      this.#recorders.open.record(performance.now() - startMs);
    });
    return this.#alive().length;
  }

  async #storm(signal: AbortSignal): Promise<number> {
    const sessions = this.#alive();
    const cutMs = performance.now();
    for (const { connection } of sessions) connection.destroy();
    let resumed = 0;
    await Promise.all(
      sessions.map(async (session) => {
        if (!(await this.#resume(session, signal))) return;
        resumed++;
        this.#recorders.storm.record(performance.now() - cutMs);
      }),
    );
    return resumed;
  }

  async #resume(session: AskingConnection, signal: AbortSignal): Promise<boolean> {
    const deadlineMs = performance.now() + this.#job.sessionTimeoutMs * 2;
    while (performance.now() < deadlineMs && !signal.aborted) {
      try {
        const before = session.connection.session?.id;
        const { id } = await session.open({ resume: true });
        this.total++;
        if (id === before) return true;
        break;
      } catch (error) {
        if (error instanceof Error && error.message === "SESSION_EXPIRED") break;
        this.#retries++;
        await waitUntil(performance.now() + RETRY_MS, signal);
      }
    }
    this.errors.add(SESSION_LOST);
    return false;
  }

  async #closeAll(): Promise<number> {
    const close = closeTemplate("close");
    let closed = 0;
    await this.#someAtATime(this.#alive(), async (session) => {
      const startMs = performance.now();
      await session.demand([close]);
      this.#recorders.close.record(performance.now() - startMs);
      closed++;
    });
    return closed;
  }

  async #someAtATime(
    sessions: readonly AskingConnection[],
    act: (session: AskingConnection) => Promise<void>,
  ): Promise<void> {
    let next = 0;
    const actOnNext = async (): Promise<void> => {
      for (let session = sessions[next++]; session !== undefined; session = sessions[next++]) {
        try {
          await act(session);
        } catch (error) {
          this.errors.addThrown(error);
        }
        this.total++;
      }
    };
    await Promise.all(Array.from({ length: this.#job.opening }, actOnNext));
  }

  #alive(): readonly AskingConnection[] {
    return this.#sessions.filter(({ connection }) => connection.isOpen);
  }

  #pingIdle(): void {
    const nowMs = performance.now();
    for (const { connection } of this.#sessions) {
      const timeoutMs = connection.session?.timeoutMs ?? this.#job.sessionTimeoutMs;
      if (connection.isOpen && nowMs - connection.lastSentMs > timeoutMs / 3) connection.ping(nowMs);
    }
  }
}
