import type { AdminView, StateAct } from "../admin-view.ts";
import { requesterIdentities } from "../authorise.ts";
import type { HttpRequest, HttpStream } from "../http-port.ts";
import type { Json, JsonFields } from "../java-json.ts";
import { SnapshotRefusal } from "../snapshot-endpoint.ts";

/** A request to an admin command. */
export interface CommandRequest extends Omit<HttpRequest, "path"> {
  readonly name: string;
}

export interface CommandAnswer {
  readonly status: number;
  readonly body: Json | HttpStream;
  readonly headers?: Readonly<Record<string, string>>;
  /** The HTTP method of the command. */
  readonly allow?: string;
}

export interface Command {
  /** The first is the primary name, the others are aliases. */
  readonly names: readonly string[];
  /** Absent: GET. */
  readonly method?: "POST";
  /** Whether the command answers while the server has no role. */
  readonly isAlways?: true;
  readonly needsAuth?: true;
  /** Apache has no such command. */
  readonly isOwn?: true;
  run(view: AdminView, request: CommandRequest): Outcome | Promise<Outcome>;
}

export type Outcome = Fields | JsonFields | Failure | Snapshot;

export type Fields = { readonly [key: string]: Json };

/** The error of a command. */
export class Failure {
  readonly error: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(error: string, status = 200, headers: Readonly<Record<string, string>> = {}) {
    this.error = error;
    this.status = status;
    this.headers = headers;
  }
}

/** A snapshot, to be sent or only announced by its headers. */
export class Snapshot {
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: it is not sent. */
  readonly stream: HttpStream | undefined;

  constructor(headers: Readonly<Record<string, string>>, stream: HttpStream | undefined) {
    this.headers = headers;
    this.stream = stream;
  }
}

/** An obstacle that may be gone when the same request comes again. */
export function notYet(error: string): Failure {
  return new Failure(error, 503, { "retry-after": "1" });
}

export function audited(view: AdminView, request: CommandRequest, act: StateAct, outcome: unknown): void {
  const requester = { identities: requesterIdentities(view, request), address: request.address };
  const isRefused = outcome === undefined || outcome instanceof SnapshotRefusal;
  view.acted(act, requester, isRefused ? "failure" : "success");
}

export function leaderText(leader: number | undefined): string {
  return leader === undefined ? ": no leader is known" : `: server ${leader} does`;
}
