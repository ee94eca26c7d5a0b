import { answerDigestMd5, type DigestMd5Answer } from "@zooid/wire";
import { ByteCursor, field, int, long } from "@zooid/wire/apache";
import { ApachePeerError } from "./peer-error.ts";

/** A user of the section QuorumServer in the JAAS file of Apache's servers. */
export interface QuorumUser {
  readonly username: string;
  readonly password: string;
}

/** Before each step of the login. It stands in Apache's source as a negative number of 65 bits. */
const MAGIC = 0x5f24_3501_3501_edccn;
const Status = { IN_PROGRESS: 0, SUCCESS: 1, FAILED: -1 } as const;
const HEAD_BYTES = 16;
const TOKEN_BYTES_MAX = 4096;
const URI = "zookeeper-quorum/zk-quorum-sasl-md5";

export interface LoginOptions {
  readonly user: QuorumUser;
  /** A value that was never used before. */
  readonly cnonce: string;
  md5(bytes: Uint8Array): Uint8Array;
}

/**
 * The login of a server at another one, by SASL with DIGEST-MD5: it stands before the first packet.
 *
 * ```
 *  magic i64 · status i32 · token (length i32, bytes)
 *
 *  we      (0, nothing)
 *  server  (0, challenge)
 *  we      (0, response)
 *  server  (1, proof that it knows the password)  or (-1, nothing)
 * ```
 */
export class QuorumLogin {
  /** The packet that begins it. */
  static readonly first: Buffer = encodeStep(Buffer.alloc(0));
  readonly #options: LoginOptions;
  #bytes: Buffer = Buffer.alloc(0);
  #answer: DigestMd5Answer | undefined;
  #isDone = false;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /** Whether each side has proved that it knows the password. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * Takes what came, in pieces of any size.
   *
   * @returns what is sent next; undefined while nothing is
   * @throws ApachePeerError LOGIN_FAILED
   */
  take(piece: Buffer): Buffer | undefined {
    this.#bytes = Buffer.concat([this.#bytes, piece]);
    const cursor = new ByteCursor(this.#bytes, 0);
    if (!cursor.has(HEAD_BYTES)) return undefined;
    if (cursor.long() !== MAGIC) throw failed("what came is no step of a login; does the server require SASL?");
    const status = cursor.int();
    const length = cursor.int();
    if (length < -1 || length > TOKEN_BYTES_MAX) throw failed(`a token of ${length} bytes`);
    if (!cursor.has(Math.max(length, 0))) return undefined;
    const token = length === -1 ? Buffer.alloc(0) : cursor.bytesOf(length);
    this.#bytes = this.#bytes.subarray(cursor.at);
    return this.#step(status, token);
  }

  /** The bytes behind the login; a leader that keeps to the protocol sends nothing unasked. */
  takeRest(): Buffer {
    const rest = this.#bytes;
    this.#bytes = Buffer.alloc(0);
    return rest;
  }

  #step(status: number, token: Buffer): Buffer | undefined {
    if (status === Status.FAILED) throw failed("the server does not accept user and password");
    if (this.#answer === undefined) {
      if (status !== Status.IN_PROGRESS) throw failed(`a challenge of status ${status}`);
      const { user, cnonce, md5 } = this.#options;
      const answer = answerDigestMd5(token, { ...user, cnonce, uri: URI }, md5);
      if (typeof answer === "string") throw failed(answer);
      this.#answer = answer;
      return encodeStep(answer.response);
    }
    if (status !== Status.SUCCESS || !this.#answer.isProof(token))
      throw failed("the server did not prove that it knows the password");
    this.#isDone = true;
    return undefined;
  }
}

function encodeStep(token: Uint8Array): Buffer {
  return Buffer.concat([long(MAGIC), int(Status.IN_PROGRESS), field(Buffer.from(token))]);
}

function failed(reason: string): ApachePeerError {
  return new ApachePeerError({ code: "LOGIN_FAILED", reason });
}
