import { createHash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { BackupError } from "../backup-error.ts";
import {
  type BackupTarget,
  OBJECTS_MAX,
  type ObjectTail,
  objectPlace,
  type TargetObject,
  tooLarge,
} from "./backup-target.ts";
import type { S3Credentials } from "./s3-credentials.ts";
import { parseS3Listing } from "./s3-listing.ts";
import { type Answer, S3Requests } from "./s3-requests.ts";

export interface S3TargetOptions {
  readonly bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string;
  /** Address of the service. Default: Amazon's in the region. */
  readonly endpoint?: string | undefined;
  /** Default `us-east-1`. */
  readonly region?: string | undefined;
  readonly credentials: S3Credentials;
  /** Ends what is waited for. */
  readonly signal?: AbortSignal | undefined;
  /** Time to the second attempt; each further one waits twice as long. Default 250 ms. */
  readonly retryMs?: number;
  /** Time of one attempt, beside the time for its bytes. Default 30 s. */
  readonly timeoutMs?: number;
}

const LISTING_BYTES_MAX = 8 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;
const TOKEN_CHARS_MAX = 4096;

/** A bucket of an S3 service, or a prefix in one. Requests are signed, and bodies are bounded. */
export class S3Target implements BackupTarget {
  readonly name: string;
  readonly #root: string;
  readonly #prefix: string;
  readonly #requests: S3Requests;

  constructor({ bucket, prefix, credentials, ...options }: S3TargetOptions) {
    const { region = "us-east-1", endpoint = `https://s3.${region}.amazonaws.com` } = options;
    this.name = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
    this.#root = `${endpoint.replace(/\/$/, "")}/${bucket}`;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const client = new AwsClient({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: "s3",
      region,
      retries: 0,
    });
    const { signal, retryMs = 250, timeoutMs = 30_000 } = options;
    this.#requests = new S3Requests({ client, target: this.name, signal, retryMs, timeoutMs });
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    // The service compares the sum with what came.
    const headers = { "x-amz-content-sha256": createHash("sha256").update(bytes).digest("hex") };
    const call = `PUT ${name}`;
    const answer = await this.#requests.ask({
      call,
      url: this.#url(name),
      method: "PUT",
      headers,
      body: bytes,
      bytesMax: ERROR_BYTES_MAX,
    });
    if (answer.status !== 200) throw this.#requests.refusal(call, answer, "200");
  }

  async get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    const call = `GET ${name}`;
    const answer = await this.#requests.ask({ call, url: this.#url(name), method: "GET", headers: {}, bytesMax });
    if (answer.status === 200) return this.#whole(name, answer, bytesMax);
    if (this.#requests.isAbsent(answer)) return undefined;
    throw this.#requests.refusal(call, answer, "200");
  }

  async tail(name: string, bytesMax: number): Promise<ObjectTail | undefined> {
    const call = `GET ${name}, its last ${bytesMax} bytes`;
    const headers = { range: `bytes=-${bytesMax}` };
    const answer = await this.#requests.ask({ call, url: this.#url(name), method: "GET", headers, bytesMax });
    if (this.#requests.isAbsent(answer)) return undefined;
    // An object of no bytes has no range.
    if (answer.status === 416) return { bytes: Buffer.alloc(0), size: 0 };
    if (answer.status !== 200 && answer.status !== 206) throw this.#requests.refusal(call, answer, "206");
    const bytes = this.#whole(name, answer, bytesMax);
    const [, total] = /^bytes \d+-\d+\/(\d{1,15})$/.exec(answer.headers.get("content-range") ?? "") ?? [];
    return { bytes, size: total === undefined ? bytes.length : Number(total) };
  }

  async list(prefix: string, after = ""): Promise<readonly TargetObject[]> {
    const objects: TargetObject[] = [];
    let token: string | undefined;
    do {
      const page = await this.#page(prefix, after, token);
      for (const { key, bytes } of page.objects) {
        if (key.startsWith(this.#prefix)) objects.push({ name: key.slice(this.#prefix.length), bytes });
      }
      if (objects.length > OBJECTS_MAX) throw this.#unexpected("a listing", `at most ${OBJECTS_MAX} objects`, "more");
      if (page.next !== undefined && (page.objects.length === 0 || page.next.length > TOKEN_CHARS_MAX))
        throw this.#unexpected("a listing", "objects and a place to continue from", "none");
      token = page.next;
    } while (token !== undefined);
    return objects.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async remove(name: string): Promise<void> {
    const call = `DELETE ${name}`;
    const request = { call, url: this.#url(name), method: "DELETE", headers: {}, bytesMax: ERROR_BYTES_MAX };
    const answer = await this.#requests.ask(request);
    if (answer.status !== 204 && answer.status !== 200 && !this.#requests.isAbsent(answer))
      throw this.#requests.refusal(call, answer, "204");
  }

  async #page(prefix: string, after: string, token: string | undefined) {
    const query = new URLSearchParams({ "list-type": "2", prefix: `${this.#prefix}${prefix}` });
    if (after !== "") query.set("start-after", `${this.#prefix}${after}`);
    if (token !== undefined) query.set("continuation-token", token);
    const call = `the listing of ${prefix}`;
    const url = `${this.#root}?${query}`;
    const answer = await this.#requests.ask({ call, url, method: "GET", headers: {}, bytesMax: LISTING_BYTES_MAX });
    if (answer.status !== 200) throw this.#requests.refusal(call, answer, "200");
    const page = answer.isCut ? undefined : parseS3Listing(answer.body.toString("utf8"));
    if (page === undefined) throw this.#unexpected(call, "a ListBucketResult", "another text");
    return page;
  }

  #url(name: string): string {
    return `${this.#root}/${this.#prefix}${name}`;
  }

  #whole(name: string, { body, isCut }: Answer, bytesMax: number): Buffer {
    if (isCut) throw tooLarge(objectPlace(this, name), bytesMax);
    return body;
  }

  #unexpected(call: string, expected: string, found: string): BackupError {
    return new BackupError({ code: "UNEXPECTED_ANSWER", target: this.name, call, expected, found });
  }
}
