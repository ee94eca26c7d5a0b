import type { IncomingMessage } from "node:http";
import { refuse } from "./problem.ts";

/** 1 MiB of data as base64, and the rest of a request. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;

/** @throws ProblemError for a body that is too long, is not JSON, or has another type */
export async function readJson(message: IncomingMessage): Promise<unknown> {
  const type = message.headers["content-type"] ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw refuse(415, "CONTENT_TYPE", "The body of a request is application/json");
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    sizeBytes += (chunk as Buffer).length;
    if (sizeBytes > BODY_BYTES_MAX) {
      throw refuse(413, "BODY_TOO_LARGE", `The body of a request has at most ${BODY_BYTES_MAX} bytes`);
    }
    chunks.push(chunk as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    throw refuse(400, "BODY_UNREADABLE", "The body of the request is not JSON");
  }
}
