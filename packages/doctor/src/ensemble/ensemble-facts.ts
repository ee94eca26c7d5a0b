import type { Members, ServerId } from "@zooid/model";
import type { ServerStatus } from "@zooid/model/membership";
import type { CliCall } from "../cli-call.ts";
import type { ServerSettings } from "../configuration/settings.ts";

/** The facts of an ensemble's servers, as they report them of themselves and of each other. */
export interface EnsembleFacts {
  /** Repeated in remedies. */
  readonly cli: CliCall;
  /** The list in force; undefined where no server has one, or none could be asked. */
  readonly members: Members | undefined;
  readonly servers: readonly ServerFacts[];
}

/** A server's answer to `srvr`. */
export interface ServerReport {
  readonly mode: string;
  readonly zxid: string | undefined;
  /** Zooid's version, or ZooKeeper's for another server. */
  readonly version: string | undefined;
  /** Servers that follow this leader although the list in force does not have them. */
  readonly unlisted: readonly number[];
}

export interface ServerFacts {
  /** `server 2 at zk2:2181`, or the address alone. */
  readonly name: string;
  /** Its client port, as `host:port`. */
  readonly address: string;
  /** Undefined for a server that the list in force does not have under this address. */
  readonly sid: ServerId | undefined;
  /** A text: why there is no report. */
  readonly status: ServerStatus<ServerReport>;
  /** Undefined: its admin port was not asked, or gave no answer. */
  readonly admin: AdminFacts | undefined;
}

/** The content of an admin port. */
export interface AdminFacts {
  /** Where it is: `http://zk1:8080`. */
  readonly url: string;
  /** The checks of `/healthz`. */
  readonly checks: readonly HealthCheck[];
  readonly metrics: Metrics;
  /** The configuration that it was started with. */
  readonly settings: ServerSettings;
}

export interface HealthCheck {
  readonly name: string;
  /** Undefined: the check passes. */
  readonly fault: string | undefined;
}

/** A sample of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples by the metric's name. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>;
