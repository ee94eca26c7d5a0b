import type { WatchEvent } from "@zooid/client";
import { formatZxid } from "@zooid/model";
import { usageError } from "../../cli-error.ts";
import { type Command, givenNode } from "../../command.ts";
import type { Flags } from "../../command-flags.ts";
import { answered } from "../../connection/watches.ts";
import type { Output } from "../../output.ts";

export const watch: Command = {
  name: "watch",
  synopsis: "[-R] [--count n] path",
  flags: [{ name: "R" }, { name: "count", takesValue: true, isOwn: true }],
  summary: "Prints each event of a node, or of its descendants too (-R), until Ctrl-C or the n-th event.",
  operandsMin: 1,
  operandsMax: 1,
  kind: "own",
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const countMax = readCount(flags);
    const { path, client } = await givenNode(invocation);
    const mode = flags.has("R") ? "persistent-recursive" : "persistent";
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    let count = 0;
    const subscription = client.events$(path, { mode }).subscribe({
      next: (event) => {
        if (event.type === "resync") {
          output.progress("the connection was lost for a while; changes made meanwhile are not printed");
          return;
        }
        if (count >= countMax) return;
        count++;
        print(event, output);
        if (count >= countMax) resolve();
      },
      error: reject,
      complete: resolve,
    });
    const stop = (): void => resolve();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([done, answered(client, path)]);
      // On stderr: scripts that start this before a change can wait for the line.
      if (count < countMax) output.progress(`watching ${path}${flags.has("R") ? " and all below it" : ""}`);
      await done;
    } finally {
      signal.removeEventListener("abort", stop);
      subscription.unsubscribe();
    }
    return { path, events: count };
  },
};

function print({ type, path, zxid }: WatchEvent, output: Output): void {
  const time = new Date().toISOString();
  const zxidText = zxid < 0 ? null : formatZxid(zxid);
  output.line(`${time} ${zxidText ?? "-"} ${type} ${path}`);
  output.json({ event: type, path, zxid: zxidText, time });
}

function readCount(flags: Flags): number {
  const text = flags.value("count");
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d*$/.test(text)) throw usageError(`--count takes a whole number above 0, found ${JSON.stringify(text)}`);
  return Number(text);
}
