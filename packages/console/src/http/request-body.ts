import type { IncomingMessage } from "node:http";
import { startTimer } from "@zooid/client";
import { askForBody, found } from "@zooid/model";
import { type JsonLimits, JsonShape } from "./json-shape.ts";
import { ProblemError, refuse } from "./problem.ts";

/** 1 MiB of data as base64, and the rest of a request. */
export const BODY_LIMITS: JsonLimits = { bytesMax: 2 * 1024 * 1024, depthMax: 16, valuesMax: 10_000 };
/** A name and a password, each of which may be escaped. */
export const LOGIN_LIMITS: JsonLimits = { bytesMax: 1024, depthMax: 2, valuesMax: 16 };
/** Time until a body is there: slow lines have some for each byte. */
const BODY_MS = 10_000;
const BYTES_PER_MS = 32;

export interface JsonBody {
  readonly bytes: Uint8Array;
  readonly value: unknown;
}

/**
 * Reads the body of a request, which its limits were checked for before it is parsed.
 *
 * @throws ProblemError for a body that is beyond a limit, does not come in time, is not JSON, or
 *   has another type
 */
export async function readJson(message: IncomingMessage, limits: JsonLimits = BODY_LIMITS): Promise<JsonBody> {
  const type = message.headers["content-type"] ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    const detail = `Content-Type: expected application/json, found ${found(type === "" ? undefined : type)}`;
    throw refuse(415, "CONTENT_TYPE", "The body of a request is application/json", { detail });
  }
  const bytes = await bodyOf(message, limits);
  try {
    return { bytes, value: JSON.parse(bytes.toString()) as unknown };
  } catch (error) {
    const detail = `body: ${error instanceof Error ? error.message : String(error)}`;
    throw refuse(400, "BODY_UNREADABLE", "The body of the request is not JSON", { detail });
  }
}

async function bodyOf(message: IncomingMessage, limits: JsonLimits): Promise<Buffer> {
  askForBody(message);
  const shape = new JsonShape(limits);
  const chunks: Buffer[] = [];
  let isLate = false;
  const late = startTimer(BODY_MS + limits.bytesMax / BYTES_PER_MS, () => {
    isLate = true;
    message.destroy();
  });
  try {
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      const limit = shape.add(chunk as Buffer);
      if (limit === "bytesMax") {
        throw refuse(413, "BODY_TOO_LARGE", `The body of this request has at most ${limits.bytesMax} bytes`);
      }
      if (limit !== undefined) {
        throw refuse(400, "BODY_TOO_COMPLEX", "The body of the request has too many values, or too many in each other");
      }
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    const detail = isLate ? "it did not come in time" : "the connection ended before it was there";
    throw refuse(408, "BODY_INCOMPLETE", "The body of the request is not whole", { detail });
  } finally {
    late.cancel();
  }
  return Buffer.concat(chunks);
}
