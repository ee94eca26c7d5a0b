import { setTimeout as pause } from "node:timers/promises";
import type { AwsClient } from "aws4fetch";
import { BackupError } from "../backup-error.ts";
import { parseS3Error } from "./s3-listing.ts";

export interface S3Request {
  /** In words, for errors. */
  readonly call: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The answer's body is not read beyond this. */
  readonly bytesMax: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Whether the body had more than its bound. */
  readonly isCut: boolean;
}

export interface S3RequestsOptions {
  readonly client: AwsClient;
  /** The target's name, for errors. */
  readonly target: string;
  readonly signal: AbortSignal | undefined;
  readonly retryMs: number;
  readonly timeoutMs: number;
}

const ATTEMPTS_MAX = 5;
/** Codes of a 404 for an object; other services have other codes for keys and buckets. */
const ABSENT: ReadonlySet<string> = new Set(["NoSuchKey", "NotFound", ""]);
const KEY_REFUSED = /User|AccessKey|Credential|Token|Signature/;
/** A link with fewer bytes in a millisecond is too slow for backups. */
const BYTES_PER_MS_MIN = 50;
const EXPECTED_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Signed requests to an S3 service. Failures that may be temporary (no answer, an answer that
 * is cut, a status from 500 on, "slow down") are retried, with longer pauses.
 */
export class S3Requests {
  readonly #options: S3RequestsOptions;

  constructor(options: S3RequestsOptions) {
    this.#options = options;
  }

  async ask(request: S3Request): Promise<Answer> {
    const { retryMs, signal, target } = this.#options;
    let failure: unknown;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      if (attempt > 0) await pause(retryMs * 2 ** (attempt - 1), undefined, signal === undefined ? {} : { signal });
      try {
        const answer = await this.#attempt(request);
        if (!isPassing(answer.status)) return answer;
        failure = this.refusal(request.call, answer, "an answer");
      } catch (error) {
        signal?.throwIfAborted();
        failure = error;
      }
    }
    if (failure instanceof BackupError) throw failure;
    throw new BackupError(
      { code: "UNREACHABLE", target, reason: `${reasonOf(failure)}, in ${ATTEMPTS_MAX} attempts of ${request.call}` },
      { cause: failure },
    );
  }

  /** Whether an answer says that there is no such object, in a bucket that there is. */
  isAbsent({ status, body }: Answer): boolean {
    return status === 404 && ABSENT.has(parseS3Error(body.toString("utf8")).code);
  }

  /** The meaning of an unexpected answer. */
  refusal(call: string, { status, headers, body }: Answer, expected: string): BackupError {
    const { target } = this.#options;
    const { code, message } = parseS3Error(body.toString("utf8", 0, 4096));
    const reason = `${code === "" ? `status ${status}` : code}${message === "" ? "" : `, ${message}`}`;
    if (code === "SignatureDoesNotMatch")
      return new BackupError({
        code: "ACCESS_DENIED",
        target,
        reason: `the secret is not that of the access key (${reason})`,
      });
    if (status === 301 || status === 307 || code === "AuthorizationHeaderMalformed" || code === "PermanentRedirect") {
      const region = /^[a-z0-9-]{1,40}$/.exec(headers.get("x-amz-bucket-region") ?? "")?.[0];
      const hint = region === undefined ? "its region is another one" : `its region is ${region}`;
      return new BackupError({ code: "ACCESS_DENIED", target, reason: `${hint} (${reason})` });
    }
    if (status === 401 || status === 403 || (status < 500 && KEY_REFUSED.test(code)))
      return new BackupError({ code: "ACCESS_DENIED", target, reason });
    if (code === "NoSuchBucket") return new BackupError({ code: "NO_TARGET", target, reason });
    if (status === 507 || /Full|Quota/.test(code)) return new BackupError({ code: "FULL", target, reason });
    const found = code === "" ? String(status) : `${status} ${reason}`;
    return new BackupError({ code: "UNEXPECTED_ANSWER", target, call, expected, found });
  }

  async #attempt({ url, method, headers, body, bytesMax }: S3Request): Promise<Answer> {
    const { client, signal, timeoutMs } = this.#options;
    const expectedBytes = Math.min(body?.length ?? bytesMax, EXPECTED_BYTES_MAX);
    const timeout = AbortSignal.timeout(timeoutMs + Math.ceil(expectedBytes / BYTES_PER_MS_MIN));
    const signed = await client.sign(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
    });
    const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    // A redirect would get the signature of another place.
    const response = await fetch(signed, { signal: ends, redirect: "manual" });
    return { status: response.status, headers: response.headers, ...(await bodyOf(response, bytesMax)) };
  }
}

async function bodyOf(
  response: Response,
  bytesMax: number,
): Promise<{ readonly body: Buffer; readonly isCut: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const limit = Math.max(bytesMax, response.ok ? 0 : 4096);
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    length += piece.length;
    // Leaving the loop ends the connection.
    if (length > limit) return { body: Buffer.concat(pieces).subarray(0, limit), isCut: true };
  }
  const announced = response.headers.get("content-length");
  if (
    announced !== null &&
    response.status !== 204 &&
    Number(announced) > length &&
    response.headers.get("content-encoding") === null
  )
    throw new Error(`an answer of ${announced} bytes ended after ${length}`);
  return { body: Buffer.concat(pieces), isCut: false };
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 507);
}

/** Node's own error says "fetch failed", and its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  if (cause instanceof Error) return reasonOf(cause);
  return error.name === "TimeoutError" ? "no answer in time" : error.message;
}
