/**
 * A thread that sends what open pages send, without the browser's own work: the stream of changes,
 * and the polls, of each page.
 */
import { setTimeout as delay } from "node:timers/promises";
import { workerData } from "node:worker_threads";

const { url, count } = workerData as { readonly url: string; readonly count: number };

/** As the pages poll. */
const POLLS = [
  ["/ensemble", 2_000],
  ["/sessions", 3_000],
  ["/children?path=/", 5_000],
] as const;

for (let at = 0; at < count; at++) {
  const [path, everyMs] = POLLS[at % POLLS.length] ?? POLLS[0];
  void follow(`${url}api/v1/events?path=/`);
  void poll(`${url}api/v1${path}`, everyMs);
}

async function follow(stream: string): Promise<void> {
  const answer = await fetch(stream);
  for await (const _chunk of answer.body ?? []);
}

async function poll(resource: string, everyMs: number): Promise<void> {
  for (;;) {
    await (await fetch(resource)).arrayBuffer();
    await delay(everyMs);
  }
}
