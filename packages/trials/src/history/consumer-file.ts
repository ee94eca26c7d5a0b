import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { HistoryChange } from "@zooid/client";
import type { SeenChange } from "./written-changes.ts";

/** A line that a consumer appends to its file. */
export type ConsumerLine =
  /** A life begins, and forgets what it has of later transactions. */
  | { readonly kind: "resumed"; readonly after: number }
  | { readonly kind: "reached"; readonly zxid: number }
  | ({ readonly kind: "change" } & SeenChange)
  | { readonly kind: "fault"; readonly message: string };

export interface Consumed {
  readonly changes: readonly SeenChange[];
  /** Up to which everything had come; 0 before. */
  readonly reached: number;
  readonly faults: readonly string[];
}

/** The file of a consumer, which is killed: its last line may be torn. */
export class ConsumerFile {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  append(line: ConsumerLine): void {
    appendFileSync(this.#file, `\n${JSON.stringify(line)}`);
  }

  read(): Consumed {
    const changes: SeenChange[] = [];
    const faults: string[] = [];
    let reached = 0;
    const text = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    for (const each of text.split("\n")) {
      const line = parse(each);
      switch (line?.kind) {
        case "resumed":
          while ((changes.at(-1)?.zxid ?? 0) > line.after) changes.pop();
          break;
        case "reached":
          reached = line.zxid;
          break;
        case "change":
          changes.push(line);
          break;
        case "fault":
          faults.push(`the consumer: ${line.message}`);
      }
    }
    return { changes, reached, faults };
  }
}

/** A change of a stream or a history, in the words of those who write. */
export function seenChange({ zxid, op, path, data }: HistoryChange): SeenChange {
  const name = NAMES.get(op) ?? op;
  return { zxid, op: name, path, value: Buffer.from(data ?? []).toString() };
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ["CREATE2", "create"],
  ["CREATE", "create"],
  ["SET_DATA", "set"],
  ["DELETE", "delete"],
]);

function parse(line: string): ConsumerLine | undefined {
  try {
    return JSON.parse(line) as ConsumerLine;
  } catch {
    return undefined;
  }
}
