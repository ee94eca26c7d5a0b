import { connect } from "@zooid/client";
import { describe, expect, test } from "vitest";
import { TestEnsemble } from "./index.ts";
import { GAP_CASES, type GapCase, type Outcome } from "./testing/gap-cases.ts";
import { GAP_FAULTS, type GapFault, GapTransport, LAG_FAULTS } from "./testing/gap-transport.ts";

const DEADLINE_MS = 1_000_000;
const SETTLING_MS = 10_000;

/** Runs a case with one fault. @returns how many requests it took, and what went wrong */
function runCase(
  one: GapCase,
  at: number,
  fault?: GapFault,
): Promise<{ requestCount: number; faults: readonly string[] }> {
  const isLag = fault !== undefined && LAG_FAULTS.has(fault);
  return TestEnsemble.run({ servers: isLag ? 3 : 1, seed: at, deadlineMs: DEADLINE_MS }, async (ensemble) => {
    const other = await ensemble.connect({ name: "other", sessionTimeoutMs: 8_000 });
    await one.prepare?.(other);
    const host = {
      cut: () => ensemble.link("own").cut(),
      expire: () => ensemble.expireSession("own"),
      freeze: () => ensemble.link("own").freeze("answers"),
      thaw: () => ensemble.link("own").thaw(),
      lag: (than?: string) => lag(ensemble, than),
      follower: () => followers(ensemble)[0]?.host ?? "",
      after: (ms: number, run: () => void) => void setTimeout(run, ms),
    };
    const transport = new GapTransport(ensemble.transport("own"), host, at, fault);
    const zk = await connect(ensemble.connectString, { transport, sessionTimeoutMs: 8_000, random: () => 0.5 });
    transport.isOn = true;
    const outcome = await outcomeOf(() => one.run(zk, other));
    transport.isOn = false;
    // Watches are removed behind what was done.
    await ensemble.sleep(SETTLING_MS);
    const watches = zk.watchCount;
    await zk.close();
    if (isLag) {
      ensemble.heal();
      await ensemble.settle();
      await other.sync();
    }
    const faults = [...(await one.check(other, outcome))];
    const endsSession = fault === "expired" || fault === "answer expired";
    if ("code" in outcome && !endsSession && !(one.failsWith ?? []).includes(outcome.code))
      faults.push(`it fails with ${outcome.code}, although its session lives on`);
    if (watches > 0) faults.push(`${watches} watches that nothing waits for`);
    return { requestCount: transport.requestCount, faults };
  });
}

/** The lag of a server that is behind. */
const LAG_MS = 700;

function followers(ensemble: TestEnsemble): readonly { readonly sid: number; readonly host: string }[] {
  return ensemble.servers.filter((sid) => sid !== ensemble.leader).map((sid) => ({ sid, host: `server-${sid}` }));
}

/** @returns the host of a follower that lags from now on, if possible another one */
function lag(ensemble: TestEnsemble, than?: string): string {
  const [first, second] = followers(ensemble);
  const chosen = first?.host === than ? second : first;
  if (chosen === undefined || ensemble.leader === undefined) throw new Error("a leader and a follower expected");
  ensemble.slowLink(ensemble.leader, chosen.sid, LAG_MS);
  return chosen.host;
}

/** Every error that callers can get has a code. */
async function outcomeOf(run: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { value: await run() };
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string") return { code: error.code };
    if (error instanceof DOMException) throw new Error(`it did not end: ${error.message}`, { cause: error });
    throw error;
  }
}

describe.each(GAP_CASES)("$name", (one) => {
  test.each(GAP_FAULTS)("any request may be %s", async (fault) => {
    const { requestCount, faults } = await runCase(one, 0);
    expect([requestCount > 0, faults]).toEqual([true, []]);
    const found: string[] = [];
    for (let at = 1; at <= requestCount; at++) {
      const { faults } = await runCase(one, at, fault);
      found.push(...faults.map((each) => `request ${at} of ${requestCount}: ${each}`));
    }
    expect(found).toEqual([]);
  });
});
