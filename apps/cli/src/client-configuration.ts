import { readFileSync } from "node:fs";
import { CliError, usageError } from "./cli-error.ts";
import { parseProperties } from "./java-properties.ts";

/** What of a Java client's configuration has a meaning here. */
export interface ClientConfiguration {
  readonly frameBytesMax: number | undefined;
  /** A sentence for each setting that does nothing. */
  readonly warnings: readonly string[];
}

/** Settings that choose how to get in: going on without them would connect in another way than was asked for. */
const REFUSED = [
  { key: "zookeeper.client.secure", reason: "TLS is not supported yet" },
  { key: "zookeeper.sasl.client", reason: "SASL is not supported yet" },
];

/** @throws CliError when the file cannot be read, or asks for what would silently be missing */
export function readClientConfiguration(file: string): ClientConfiguration {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`cannot read the client configuration ${file}: ${reason}`, { code: "UNREADABLE_FILE" });
  }
  return parseClientConfiguration(text, file);
}

export function parseClientConfiguration(text: string, file: string): ClientConfiguration {
  const warnings: string[] = [];
  let frameBytesMax: number | undefined;
  for (const [key, value] of parseProperties(text)) {
    const refused = REFUSED.find((one) => one.key === key);
    if (refused !== undefined) {
      if (value.toLowerCase() === "true")
        throw usageError(`${file}: ${key}=true cannot be honoured: ${refused.reason}`);
    } else if (key === "jute.maxbuffer") frameBytesMax = readBytes(value, file);
    else warnings.push(`${file}: ${key} has no effect here`);
  }
  return { frameBytesMax, warnings };
}

function readBytes(text: string, file: string): number {
  const bytes = /^0x/i.test(text) ? Number.parseInt(text, 16) : Number(text);
  if (!Number.isInteger(bytes) || bytes < 1024 || bytes > 2 ** 31 - 1) {
    throw usageError(`${file}: jute.maxbuffer takes bytes from 1024 to ${2 ** 31 - 1}, found ${JSON.stringify(text)}`);
  }
  return bytes;
}
