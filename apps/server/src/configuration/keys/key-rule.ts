import type { ServerOptions } from "@zooid/embedded-server";
import type { EnsembleLimits } from "../ensemble-settings.ts";
import { addressValue, portValue, trueOrFalse } from "../key-values.ts";

/** A line of a configuration, from wherever it came. */
export interface Setting {
  readonly key: string;
  readonly value: string;
  /** Where it stands, for messages. */
  readonly where: string;
  /**
   * Whether it is a line of a configuration file, where ZooKeeper adds the prefix `zookeeper.`
   * itself.
   */
  readonly isOfFile?: boolean;
}

/** What is to be written down of clients' writes, and where. */
export interface AuditSettings {
  readonly isEnabled?: boolean;
  readonly file?: string;
}

/** The console on the admin port. */
export interface ConsoleSettings {
  readonly isEnabled?: boolean;
  /** Identities by role, as `scheme:id`. */
  readonly viewers?: readonly string[];
  readonly editors?: readonly string[];
  readonly operators?: readonly string[];
  /** Names by which browsers reach the admin port, beyond loopback. */
  readonly hostNames?: readonly string[];
  /** URLs of the other members' admin ports, by the members' numbers. */
  readonly adminUrls?: Readonly<Record<string, string>>;
}

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export type Options = Mutable<ServerOptions>;

/**
 * Writes a value into the options, or says what was expected. Of keys that come in families, the
 * key says which one it is.
 */
export type Setter = (options: Options, value: string, key: string) => string | undefined;

/** As {@link Setter}, for what only an ensemble has. */
export type EnsembleSetter = (limits: Mutable<EnsembleLimits>, value: string) => string | undefined;

/** As {@link Setter}, for the audit log. */
export type AuditSetter = (audit: Mutable<AuditSettings>, value: string) => string | undefined;

/** As {@link Setter}, for the console. */
export type ConsoleSetter = (console: Mutable<ConsoleSettings>, value: string) => string | undefined;

/**
 * What to do with a key: honour it, refuse values that matter, or say that it has no effect here.
 */
export type KeyRule =
  | {
      readonly kind: "honoured";
      readonly set: Setter;
      /** What a start says of a valid value that does not do what it seems to. Default: nothing. */
      readonly remark?: (value: string) => string | undefined;
    }
  /**
   * Neglecting it would change who may do what, or what survives: values other than the harmless
   * ones stop the start.
   */
  | { readonly kind: "refused"; readonly harmless: readonly string[]; readonly reason: string }
  /** Values other than the harmless ones are reported. */
  | { readonly kind: "ignored"; readonly harmless: readonly string[]; readonly reason: string }
  | { readonly kind: "ensemble"; readonly set: EnsembleSetter }
  | { readonly kind: "audit"; readonly set: AuditSetter }
  | { readonly kind: "console"; readonly set: ConsoleSetter };

/**
 * A key as zoo.cfg has it, without the prefix `zookeeper.`, and its rule; of a family, how its keys
 * begin.
 */
export type KeyEntry = readonly [key: string, rule: KeyRule];

export function refused(reason: string, ...harmless: string[]): KeyRule {
  return { kind: "refused", harmless, reason };
}

export function ignored(reason: string, ...harmless: string[]): KeyRule {
  return { kind: "ignored", harmless, reason };
}

export function wholeNumber(
  name: keyof { [K in keyof Options as Options[K] extends number | undefined ? K : never]: true },
): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^[+-]?\d+$/.test(value)) return `is a whole number, found "${value}"`;
      options[name] = Number(value);
      return undefined;
    },
  };
}

/** A port, of which 0 lets the system choose one. */
export function portNumber(name: "port" | "securePort"): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const found = portValue(value);
      return "problem" in found ? found.problem : set(options, name, found.value);
    },
  };
}

/**
 * An address to listen on. An empty one may be what a template made of a missing value, and must
 * not open the port to every network.
 */
export function listenAddress(name: "address" | "secureAddress"): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const found = addressValue(value);
      return "problem" in found ? found.problem : set(options, name, found.value);
    },
  };
}

export function text(
  name: keyof { [K in keyof Options as Options[K] extends string | undefined ? K : never]: true },
): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (value === "") return "is empty";
      Object.assign(options, { [name]: value });
      return undefined;
    },
  };
}

type Flag =
  | "digestEnabled"
  | "readOnlyMode"
  | "localSessions"
  | "localSessionsUpgrading"
  | "ttlNodes"
  | "enforceQuota"
  | "healDamage"
  | "portUnification"
  | "tcpKeepAlive"
  | "reconfigEnabled";

export function flag(name: Flag): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const isOn = trueOrFalse(value);
      return isOn === undefined ? `is true or false, found "${value}"` : set(options, name, isOn);
    },
  };
}

export function set<K extends keyof Options>(options: Options, name: K, value: NonNullable<Options[K]>): undefined {
  options[name] = value;
  return undefined;
}

// Reasons that keys of several groups have.

export const ONE_LOOP = "one thread serves all connections";

export const NOT_YET = "not supported yet";
