import { CliError } from "../cli-error.ts";
import type { JsonObject } from "../output.ts";

/** As zkCli prints data: what is no UTF-8 becomes U+FFFD, and no data becomes `null`. */
export function dataText(data: Uint8Array | null): string {
  return data === null ? "null" : new TextDecoder("utf-8", { ignoreBOM: true }).decode(data);
}

/** For `--json`, exactly: as text where the bytes are UTF-8, in base64 where they are not. */
export function dataJson(data: Uint8Array | null): JsonObject {
  if (data === null) return { data: null };
  try {
    return { data: new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(data) };
  } catch {
    return { data: Buffer.from(data).toString("base64"), encoding: "base64" };
  }
}

/** @throws CliError where Node would skip what it cannot read */
export function decodeBase64(text: string): Uint8Array {
  const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.replace(/={1,2}$/, "").length % 4 !== 1;
  if (!isBase64) throw new CliError(`the data is not base64: ${JSON.stringify(text)}`, { code: "USAGE" });
  return Buffer.from(text, "base64");
}
