/**
 * Functions of the caller that the client calls on its own account, with no call to reject: a fault
 * of theirs is reported once, and the client continues. (Those that belong to a call, such as
 * `retry`, `intercept`, `acl` and codecs, reject it.)
 */
import { found } from "@zooid/model";
import { asError } from "./errors.ts";
import type { HostAddress } from "./servers/connect-string.ts";
import type { HostProvider } from "./servers/host-list.ts";
import type { LogFields, Logger } from "./session/logger.ts";
import type { Transport } from "./transport/transport.ts";

/** Reports the first fault of each callback. */
export class CallbackFaults {
  readonly #logger: Logger | undefined;
  readonly #reported = new Set<string>();

  /** @param logger gets the reports, as a warning; without one they are warnings of the process */
  constructor(logger?: Logger) {
    this.#logger = logger;
  }

  report(callback: string, fault: unknown): void {
    if (this.#reported.has(callback)) return;
    this.#reported.add(callback);
    const { message } = asError(fault);
    const text = `${callback} of this program failed, and the client continues without it: ${message}`;
    if (this.#logger !== undefined) this.#logger.warn(text, { callback });
    else process.emitWarning(text, { type: "ZooidWarning", code: "ZOOID_CALLBACK_FAULT" });
  }
}

/** A logger whose methods neither throw nor reject. */
export function guardedLogger(logger: Logger): Logger {
  const faults = new CallbackFaults();
  const guarded = (level: keyof Logger) => (message: string, fields: LogFields) => {
    try {
      // Loggers that write to a network may return a promise, against the type.
      const written: unknown = logger[level](message, fields);
      if (written instanceof Promise) written.catch((fault: unknown) => faults.report("the logger", fault));
    } catch (fault) {
      faults.report("the logger", fault);
    }
  };
  return { debug: guarded("debug"), info: guarded("info"), warn: guarded("warn"), error: guarded("error") };
}

/** Numbers from 0 to 1, whatever the function returns. The end of the range does no harm. */
export function guardedRandom(random: () => number, faults: CallbackFaults): () => number {
  return () => {
    try {
      const value = random();
      if (typeof value === "number" && value >= 0 && value <= 1) return value;
      throw new RangeError(`a number from 0 to 1 was expected, found ${found(value)}`);
    } catch (fault) {
      faults.report("the option random", fault);
      return Math.random();
    }
  };
}

/** A provider that gives its last hosts when it throws, or returns no array. */
export function guardedHosts(provider: HostProvider, faults: CallbackFaults): HostProvider {
  let last: readonly HostAddress[] = [];
  return {
    hosts: () => {
      try {
        const hosts: unknown = provider.hosts();
        if (!Array.isArray(hosts)) throw new TypeError(`an array of hosts was expected, found ${found(hosts)}`);
        last = hosts as readonly HostAddress[];
      } catch (fault) {
        faults.report("the option hosts", fault);
      }
      return last;
    },
  };
}

/** A transport whose optional parts do not throw; those that connect fail an attempt. */
export function guardedTransport(transport: Transport, faults: CallbackFaults): Transport {
  if (transport.certificateFault === undefined) return transport;
  return {
    isSecure: transport.isSecure === true,
    resolve: (host) => transport.resolve(host),
    connect: (address, events, reachMs) => transport.connect(address, events, reachMs),
    certificateFault: () => {
      try {
        return transport.certificateFault?.();
      } catch (fault) {
        faults.report("certificateFault of the transport", fault);
        return undefined;
      }
    },
  };
}
