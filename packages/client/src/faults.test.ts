/** Random work over a connection that fails at random, by seed. */

import { startServer } from "@zooid/embedded-server";
import { seededRandom } from "@zooid/model/testing/seeded-random";
import { filter, firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { connect } from "./connect.ts";
import { isZkError } from "./errors.ts";
import { text } from "./operations/codec.ts";
import { expireSession, Relay } from "./testing.ts";

const STEPS = 300;

test.each(Array.from({ length: 12 }, (_, i) => i + 1))(
  "nothing is lost or reported twice, whatever fails (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    await using server = await startServer({ port: 0, tickMs: 100, sessionTimeoutMsMax: 60_000 });
    await using relay = await Relay.start(server);
    await using zk = await connect(`127.0.0.1:${relay.port}`, { random: () => random() * 0.2, inFlightMax: 20 });
    await using witness = await connect(`127.0.0.1:${server.port}`);
    await zk.create("/n", "0");
    await zk.create("/list");
    const seen: number[] = [];
    const listed: number[] = [];
    zk.watchData$("/n", { codec: text }).subscribe((node) => seen.push(node.exists ? Number(node.value) : -1));
    zk.watchChildren$("/list").subscribe((names) => listed.push(names?.length ?? -1));

    let settledCount = 0;
    const versions: number[] = [];
    const made = new Set<string>();
    const doubtful = new Set<string>();
    const calls: Promise<unknown>[] = [];
    const track = (call: Promise<unknown>) => {
      calls.push(call);
      const settled = () => {
        settledCount++;
      };
      call.then(settled, settled);
    };
    for (let i = 1; i <= STEPS; i++) {
      const dice = random();
      if (dice < 0.4) {
        track(zk.set("/n", String(i)).then((stat) => versions.push(stat.version)));
      } else if (dice < 0.7) {
        const path = `/list/${i}`;
        const create = zk.create(path).then(
          () => made.add(path),
          (error) => {
            if (error.sentBytes) doubtful.add(path);
            throw error;
          },
        );
        track(create);
      } else if (dice < 0.92) {
        track(zk.get("/n"));
      } else if (dice < 0.97) {
        relay.cut();
      } else if (dice < 0.98 && zk.state.kind === "connected") {
        await expireSession(zk, `127.0.0.1:${server.port}`);
      } else {
        relay.freeze(random() < 0.5 ? "requests" : "answers");
        await witness.sync();
        relay.cut();
        relay.thaw();
      }
      if (random() < 0.3) await new Promise((resolve) => setImmediate(resolve));
    }
    const outcomes = await Promise.allSettled(calls);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected" && !isZkError(outcome.reason, "CONNECTION_LOSS")) throw outcome.reason;
    }
    expect(settledCount).toBe(calls.length);
    expect(versions, "answers of one session come in order").toEqual([...versions].sort((a, b) => a - b));

    const names = (await witness.children("/list")).names.map((name) => `/list/${name}`);
    for (const path of made) expect(names, `${path} was acknowledged`).toContain(path);
    for (const path of names) expect(made.has(path) || doubtful.has(path), `${path} was asked for`).toBe(true);

    const last = Number(Buffer.from((await witness.get("/n")).data ?? []).toString());
    await zk.sync();
    const settled = zk
      .watchData$("/n", { codec: text })
      .pipe(filter((node) => node.exists && Number(node.value) === last));
    await firstValueFrom(settled);
    await firstValueFrom(zk.watchChildren$("/list").pipe(filter((children) => children?.length === names.length)));
    expect(seen.at(-1)).toBe(last);
    expect(listed, "a list that only grows is never seen to shrink").toEqual([...listed].sort((a, b) => a - b));
    expect(new Set(seen).size, "no state is reported twice").toBe(seen.length);
  },
);
