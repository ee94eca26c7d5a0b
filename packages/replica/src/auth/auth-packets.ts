import { composeZxid, ErrorCode, type Identity, OpCode, type Request, sliceText } from "@zooid/model";
import type { ReplicaConfig } from "../config.ts";
import type { Connection, SaslAnswer } from "../connections/connection.ts";
import type { Connections } from "../connections/connections.ts";
import type { Counters } from "../counters.ts";
import type { ReplicaSinks } from "../sinks.ts";
import type { ReplicaTools } from "../tools.ts";
import type { AuthSchemes, Granted } from "./auth-schemes.ts";
import { areWithin, withIdentities } from "./identities.ts";

interface AuthPacketsParts {
  readonly config: ReplicaConfig;
  readonly tools: ReplicaTools;
  readonly sinks: ReplicaSinks;
  readonly auth: AuthSchemes;
  readonly connections: Connections;
  readonly counters: Counters;
}

/** What clients say of who they are, by auth packets and by SASL: what it makes of them, and its answers. */
export class AuthPackets {
  readonly #config: ReplicaConfig;
  readonly #tools: ReplicaTools;
  readonly #sinks: ReplicaSinks;
  readonly #auth: AuthSchemes;
  readonly #connections: Connections;
  readonly #counters: Counters;

  constructor(parts: AuthPacketsParts) {
    this.#config = parts.config;
    this.#tools = parts.tools;
    this.#sinks = parts.sinks;
    this.#auth = parts.auth;
    this.#connections = parts.connections;
    this.#counters = parts.counters;
  }

  /** A connection's identities with those that an auth packet adds; one that cannot be read is refused. */
  authenticate(known: readonly Identity[], request: Request): Granted {
    try {
      this.#tools.requests.body(request);
    } catch {
      return "refused";
    }
    const { data } = request;
    const credentials = request.hasData ? data.bytes.subarray(data.start, data.end) : undefined;
    const added = this.#auth.authenticate(sliceText(request.path), credentials, known);
    if (added === "refused" || added === "elsewhere") return added;
    const all = withIdentities(known, added);
    return areWithin(this.#config, all) ? all : "refused";
  }

  /** Reports a wrong password of the superuser among the identities that a packet added to those known before. */
  noteGuess(connection: Connection, before: readonly Identity[], after: readonly Identity[]): void {
    if (before !== after && this.#auth.guessesSuper(after.slice(before.length))) this.#failed(connection);
  }

  /** A failure that leaves the connection open. */
  #failed(connection: Connection): void {
    this.#counters.values.authFailures++;
    this.#sinks.guessed?.(connection.ref);
  }

  /** Answers an auth packet whose turn has come, or closes its connection. */
  answer(connection: Connection, request: Request, receivedMs: number): void {
    const granted = this.authenticate(connection.answeredAs, request);
    if (granted === "elsewhere") {
      this.#counters.values.authFailures++;
      // An answer would make it give up; it is to look for the ensemble that it means.
      this.#connections.refuse(connection, "other-ensemble");
      return;
    }
    const code = granted === "refused" ? ErrorCode.AUTH_FAILED : ErrorCode.OK;
    this.#sinks.replies.header(connection.ref, request.xid, composeZxid(0, 0), code);
    this.#counters.answered(connection, request.op, request.xid, 0, receivedMs);
    if (granted === "refused") {
      this.#counters.values.authFailures++;
      this.#connections.refuse(connection, "authentication");
    } else {
      connection.answeredAs = granted;
    }
  }

  /** Takes a step of a connection's SASL exchange; what it brings counts at once. Undefined for a token that cannot be read. */
  stepSasl(connection: Connection, request: Request): SaslAnswer | undefined {
    const answer = this.#saslAnswer(connection, request);
    if (answer === undefined) return undefined;
    const all = withIdentities(connection.identities, answer.added);
    if (!areWithin(this.#config, all)) return this.#saslFailure();
    connection.identities = all;
    return answer;
  }

  answerSasl(connection: Connection, xid: number, answer: SaslAnswer, receivedMs: number): void {
    const { code, token, added, isLast } = answer;
    connection.answeredAs = withIdentities(connection.answeredAs, added);
    this.#sinks.replies.token(connection.ref, xid, composeZxid(0, 0), code, token);
    this.#counters.answered(connection, OpCode.SASL, xid, 0, receivedMs);
    if (isLast) this.#connections.refuse(connection, "authentication");
  }

  #saslAnswer(connection: Connection, request: Request): SaslAnswer | undefined {
    try {
      this.#tools.requests.body(request);
    } catch {
      return undefined;
    }
    const { data } = request;
    if (!request.hasData) return undefined;
    connection.sasl ??= this.#tools.sasl?.();
    const step = connection.sasl?.step(data.bytes.subarray(data.start, data.end));
    if (step === undefined) return NO_SASL;
    if (step.kind === "challenge") return { ...NO_SASL, token: step.token };
    if (step.kind === "done") return { ...NO_SASL, token: step.token, added: this.#auth.saslIdentities(step.user) };
    if (this.#auth.allowsFailedSasl) {
      this.#failed(connection);
      return NO_SASL;
    }
    return this.#saslFailure();
  }

  #saslFailure(): SaslAnswer {
    this.#counters.values.authFailures++;
    const code = this.#auth.requiresSasl ? ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH : ErrorCode.AUTH_FAILED;
    return { ...NO_SASL, code, isLast: true };
  }
}

const NO_SASL: SaslAnswer = { code: ErrorCode.OK, token: undefined, added: [], isLast: false };
