import {
  assert,
  type ByteSlice,
  composeZxid,
  ErrorCode,
  type Identity,
  OpCode,
  type Request,
  sliceText,
} from "@zooid/model";
import type { Admission } from "../connections/admission.ts";
import type { Connection, SaslAnswer } from "../connections/connection.ts";
import type { SessionParts } from "../parts/sessions.ts";
import type { WaitingRequests } from "../requests/waiting-requests.ts";
import type { Granted } from "./auth-schemes.ts";
import { areWithin, withIdentities } from "./identities.ts";

interface Parts extends SessionParts {
  readonly admission: Admission;
  readonly waiting: WaitingRequests;
}

/**
 * Authenticates clients by auth packets and by SASL. The identities that a packet adds count at
 * once for what the client sends after it; the answer keeps its place in the connection's order.
 */
export class AuthPackets {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  // Auth packets

  /** @returns false when the connection is not to be read on */
  receive(connection: Connection, request: Request, frame: Readonly<ByteSlice>): boolean {
    if (connection.mustWait) {
      const { waiting, admission } = this.#parts;
      waiting.wait(connection, frame);
      const granted = this.#authenticate(connection.identities, request);
      // Nothing after a refused packet may be served. The refusal is answered, and the connection
      // closed, in its turn.
      if (granted === "refused" || granted === "elsewhere") return false;
      this.#countWrongPassword(connection, connection.identities, granted);
      connection.identities = granted;
      return admission.admits(connection);
    }
    const before = connection.answeredAs;
    this.answer(connection, request, this.#parts.servingState.nowMs);
    connection.identities = connection.answeredAs;
    this.#countWrongPassword(connection, before, connection.identities);
    return connection.phase === "open";
  }

  /** Answers an auth packet in its turn, or closes its connection. */
  answer(connection: Connection, request: Request, receivedMs: number): void {
    const { counters, connections, sinks } = this.#parts;
    const granted = this.#authenticate(connection.answeredAs, request);
    if (granted === "elsewhere") {
      counters.values.authFailures++;
      // No answer: the client would give up, and should look for its own ensemble.
      connections.refuse(connection, "other-ensemble");
      return;
    }
    const code = granted === "refused" ? ErrorCode.AUTH_FAILED : ErrorCode.OK;
    sinks.replies.header(connection.ref, request.xid, composeZxid(0, 0), code);
    counters.answered(connection, request.op, request.xid, 0, receivedMs);
    if (granted === "refused") {
      counters.values.authFailures++;
      connections.refuse(connection, "authentication");
    } else {
      connection.answeredAs = granted;
    }
  }

  /** The known identities and those that an auth packet adds. An unreadable packet is refused. */
  #authenticate(known: readonly Identity[], request: Request): Granted {
    const { config, tools, auth } = this.#parts;
    try {
      tools.requests.body(request);
    } catch {
      return "refused";
    }
    const { data } = request;
    const credentials = request.hasData ? data.bytes.subarray(data.start, data.end) : undefined;
    const added = auth.authenticate(sliceText(request.path), credentials, known);
    if (added === "refused" || added === "elsewhere") return added;
    const all = withIdentities(known, added);
    return areWithin(config, all) ? all : "refused";
  }

  /** Counts a wrong password of the superuser among the identities that a packet added. */
  #countWrongPassword(connection: Connection, before: readonly Identity[], after: readonly Identity[]): void {
    if (before !== after && this.#parts.auth.guessesSuper(after.slice(before.length))) this.#failedOpen(connection);
  }

  /** A failed authentication that leaves the connection open. */
  #failedOpen(connection: Connection): void {
    const { counters, sinks } = this.#parts;
    counters.values.authFailures++;
    sinks.wrongPassword?.(connection.ref);
  }

  // SASL

  /** @returns false when the connection is not to be read on */
  receiveSasl(connection: Connection, request: Request, frame: Readonly<ByteSlice>): boolean {
    const { connections, waiting, admission, servingState } = this.#parts;
    const answer = this.#stepSasl(connection, request);
    if (answer === undefined) {
      connections.refuse(connection, "unreadable-request");
      return false;
    }
    if (connection.mustWait) {
      connection.saslAnswers.push(answer);
      waiting.wait(connection, frame);
      return !answer.isLast && admission.admits(connection);
    }
    this.#answerSasl(connection, request.xid, answer, servingState.nowMs);
    return connection.phase === "open";
  }

  /** Answers a step that waited: the exchange took it when it was received. */
  answerWaitingSasl(connection: Connection, xid: number, receivedMs: number): void {
    const answer = connection.saslAnswers.shift();
    assert(answer !== undefined, "a waiting step of SASL has its answer");
    this.#answerSasl(connection, xid, answer, receivedMs);
  }

  #answerSasl(connection: Connection, xid: number, answer: SaslAnswer, receivedMs: number): void {
    const { counters, connections, sinks } = this.#parts;
    const { code, token, added, isLast } = answer;
    connection.answeredAs = withIdentities(connection.answeredAs, added);
    sinks.replies.token(connection.ref, xid, composeZxid(0, 0), code, token);
    counters.answered(connection, OpCode.SASL, xid, 0, receivedMs);
    if (isLast) connections.refuse(connection, "authentication");
  }

  /**
   * Takes a step of the exchange; its identities count at once. Undefined for an unreadable token.
   */
  #stepSasl(connection: Connection, request: Request): SaslAnswer | undefined {
    const answer = this.#saslAnswer(connection, request);
    if (answer === undefined) return undefined;
    const all = withIdentities(connection.identities, answer.added);
    if (!areWithin(this.#parts.config, all)) return this.#saslFailure();
    connection.identities = all;
    return answer;
  }

  #saslAnswer(connection: Connection, request: Request): SaslAnswer | undefined {
    const { tools, auth } = this.#parts;
    try {
      tools.requests.body(request);
    } catch {
      return undefined;
    }
    const { data } = request;
    if (!request.hasData) return undefined;
    connection.sasl ??= tools.sasl?.();
    const step = connection.sasl?.step(data.bytes.subarray(data.start, data.end));
    if (step === undefined) return NO_SASL;
    if (step.kind === "challenge") return { ...NO_SASL, token: step.token };
    if (step.kind === "done") return { ...NO_SASL, token: step.token, added: auth.saslIdentities(step.user) };
    if (auth.allowsFailedSasl) {
      this.#failedOpen(connection);
      return NO_SASL;
    }
    return this.#saslFailure();
  }

  #saslFailure(): SaslAnswer {
    const { counters, auth } = this.#parts;
    counters.values.authFailures++;
    const code = auth.requiresSasl ? ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH : ErrorCode.AUTH_FAILED;
    return { ...NO_SASL, code, isLast: true };
  }
}

const NO_SASL: SaslAnswer = { code: ErrorCode.OK, token: undefined, added: [], isLast: false };
