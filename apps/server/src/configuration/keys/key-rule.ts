import type { ServerOptions } from "@zooid/embedded-server";
import type { RoleOptions } from "@zooid/web-console";
import type { EnsembleLimits } from "../ensemble-settings.ts";
import type { Read } from "../key-values.ts";

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

/** The writes of clients that the audit log has, and its file. */
export interface AuditSettings {
  readonly isEnabled?: boolean;
  readonly file?: string;
}

/** The console on the admin port. */
export interface ConsoleSettings extends RoleOptions {
  readonly isEnabled?: boolean;
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
 * The treatment of a key: honour it, refuse values that matter, or report that it has no effect
 * here.
 */
export type KeyRule =
  | {
      readonly kind: "honoured";
      readonly set: Setter;
      /**
       * The warning of a start about a valid value that does not do what it seems to. Default:
       * none.
       */
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

type Reader<V> = (value: string) => Read<V>;

/** Reads a value, and puts it where it belongs, or says what was expected. */
function checked<T, V>(
  reader: Reader<V>,
  put: (target: T, value: V, key: string) => void,
): (target: T, value: string, key?: string) => string | undefined {
  return (target, value, key = "") => {
    const found = reader(value);
    if ("problem" in found) return found.problem;
    put(target, found.value, key);
    return undefined;
  };
}

/** A setting that changes the options in a way of its own. */
export function honoured<V>(reader: Reader<V>, put: (options: Options, value: V, key: string) => void): KeyRule {
  return { kind: "honoured", set: checked(reader, put) };
}

/** A setting that is one of the options. */
export function option<K extends keyof Options>(name: K, reader: Reader<NonNullable<Options[K]>>): KeyRule {
  return honoured(reader, (options, value) => Object.assign(options, { [name]: value }));
}

type Groups = Required<
  Pick<
    ServerOptions,
    | "admin"
    | "auth"
    | "backup"
    | "connectionThrottle"
    | "disk"
    | "follow"
    | "history"
    | "metrics"
    | "reaping"
    | "retention"
    | "scrub"
    | "standby"
    | "tls"
  >
>;

/** A setting that is a part of one of the options. */
export function part<G extends keyof Groups, K extends keyof Groups[G]>(
  group: G,
  name: K,
  reader: Reader<NonNullable<Groups[G][K]>>,
): KeyRule {
  return honoured(reader, (options, value) =>
    Object.assign(options, { [group]: { ...options[group], [name]: value } }),
  );
}

/** A setting that changes what only an ensemble has, in a way of its own. */
export function ofEnsemble<V>(reader: Reader<V>, put: (limits: Mutable<EnsembleLimits>, value: V) => void): KeyRule {
  return { kind: "ensemble", set: checked<Mutable<EnsembleLimits>, V>(reader, put) };
}

/** A setting that is one of the limits of an ensemble. */
export function limit<K extends keyof EnsembleLimits>(
  name: K,
  reader: Reader<NonNullable<EnsembleLimits[K]>>,
): KeyRule {
  return ofEnsemble(reader, (limits, value) => Object.assign(limits, { [name]: value }));
}

export function auditSetting<K extends keyof AuditSettings>(
  name: K,
  reader: Reader<NonNullable<AuditSettings[K]>>,
): KeyRule {
  return { kind: "audit", set: checked(reader, (audit, value) => Object.assign(audit, { [name]: value })) };
}

export function consoleSetting<K extends keyof ConsoleSettings>(
  name: K,
  reader: Reader<NonNullable<ConsoleSettings[K]>>,
): KeyRule {
  return { kind: "console", set: checked(reader, (console, value) => Object.assign(console, { [name]: value })) };
}

// Reasons that keys of several groups have.

export const ONE_LOOP = "one thread serves all connections";

export const NOT_YET = "not supported yet";
