import { expect, test } from "vitest";
import { type EnsembleStage, startEnsembleStage } from "../testing/ensemble-stage.ts";
import type { HttpAnswer } from "../testing/requesters.ts";
import { startStage } from "../testing/stage.ts";
import { drainStatus, memberChanged, memberPlan } from "./shapes.ts";

/** A check changes nothing, so it is repeated while the ensemble elects, as on a busy machine. */
async function check(stage: EnsembleStage, body: object) {
  let json: HttpAnswer["json"];
  await expect
    .poll(
      async () => {
        const answer = await stage.api("POST", "/members/check", { body });
        json = answer.json;
        return answer;
      },
      { timeout: 60_000 },
    )
    .toMatchObject({ status: 200 });
  // Parsing leaves out fields that are not documented.
  expect(memberPlan.parse(json)).toEqual(json);
  return memberPlan.parse(json);
}

async function untilSafe(stage: EnsembleStage, change: object) {
  return await expect
    .poll(() => check(stage, change), { timeout: 60_000 })
    .toMatchObject({ mayProceed: true })
    .then(() => check(stage, change));
}

async function make(stage: EnsembleStage, change: object) {
  const { version } = await untilSafe(stage, change);
  const { status, json } = await stage.api("POST", "/members", { body: { change, version } });
  expect([status, json]).toEqual([200, expect.anything()]);
  expect(memberChanged.parse(json)).toEqual(json);
  return memberChanged.parse(json);
}

async function voters(stage: EnsembleStage): Promise<readonly number[]> {
  const { servers } = await stage.zk.getConfig();
  return servers.filter(({ role }) => role === "participant").map(({ id }) => id);
}

test("a server is added, loses and gets its vote, and is removed, each after its checks", {
  timeout: 180_000,
}, async () => {
  await using stage = await startEnsembleStage();
  const add = { kind: "add", server: stage.place(4) };
  const early = await check(stage, add);
  expect(early).toMatchObject({ mayProceed: false, checks: [{ state: "failed" }, { state: "passed" }] });
  expect(early.settings).toContain(`server.${stage.place(4).replace(";", ":observer;")}`);
  const body = { change: add, version: early.version };
  expect(await stage.api("POST", "/members", { body })).toMatchObject({ status: 409, json: { code: "CHECKS_FAILED" } });
  expect(await voters(stage)).toEqual([1, 2, 3]);

  await stage.start(4);
  expect(await make(stage, add)).toMatchObject({ remainingCount: 0 });
  expect(await voters(stage)).toEqual([1, 2, 3, 4]);
  const stale = await stage.api("POST", "/members", { body: { ...body, change: { kind: "demote", sid: 4 } } });
  expect(stale).toMatchObject({ status: 412, json: { code: "BAD_VERSION" } });
  await make(stage, { kind: "demote", sid: 4 });
  expect(await voters(stage)).toEqual([1, 2, 3]);
  await make(stage, { kind: "promote", sid: 4 });
  await make(stage, { kind: "remove", sid: 4 });
  expect(await voters(stage)).toEqual([1, 2, 3]);
});

test("a server that is down is replaced in two steps, and a removal that loses the quorum is refused", {
  timeout: 180_000,
}, async () => {
  await using stage = await startEnsembleStage();
  const follower = [...stage.servers].find(([, { summary }]) => summary.role !== "leading")?.[0] ?? 0;
  await stage.stop(follower);
  const other = [...stage.servers].find(([, { summary }]) => summary.role !== "leading")?.[0] ?? 0;
  const removal = await check(stage, { kind: "remove", sid: other });
  expect(removal).toMatchObject({ mayProceed: false, checks: [{ state: "failed" }] });

  await stage.start(4);
  const change = { kind: "replace", sid: follower, server: stage.place(4) };
  expect((await untilSafe(stage, change)).steps).toHaveLength(2);
  expect(await make(stage, change)).toMatchObject({ remainingCount: 1 });
  expect(await make(stage, change)).toMatchObject({ remainingCount: 0 });
  expect((await voters(stage)).toSorted()).toEqual([...stage.servers.keys()].toSorted());
});

test("the leadership is transferred, and a server is drained and serves again", { timeout: 180_000 }, async () => {
  await using stage = await startEnsembleStage();
  const leader = [...stage.servers].find(([, { summary }]) => summary.role === "leading")?.[0] ?? 0;
  const to = leader === 1 ? 2 : 1;
  // A voter that is not synced yet cannot lead.
  await expect
    .poll(() => stage.api("POST", "/leader/transfer", { body: { to } }), { timeout: 60_000 })
    .toMatchObject({ status: 200, json: { leader: to } });
  const begin = { body: { action: "begin", durationMs: 0 } };
  // The former leader has no role until it follows the new one.
  await expect
    .poll(() => stage.api("POST", `/drain?sid=${leader}`, begin), { timeout: 60_000 })
    .toMatchObject({ status: 200, json: { isDraining: true } });
  const { json } = await stage.api("GET", `/drain?sid=${leader}`);
  expect(drainStatus.parse(json)).toEqual(json);
  expect(await stage.api("GET", `/drain?sid=${leader}`)).toMatchObject({ json: { isDraining: true } });
  const ended = await stage.api("POST", `/drain?sid=${leader}`, { body: { action: "end" } });
  expect(ended).toMatchObject({ status: 200, json: { isDraining: false } });
  // Without the superuser's login the server refuses.
  const anonymous = { headers: { Authorization: "digest alice:secret" }, body: { to: leader } };
  // On a busy machine a leader may be elected again, and no server answers for one meanwhile.
  await expect
    .poll(() => stage.api("POST", "/leader/transfer", anonymous), { timeout: 60_000 })
    .toMatchObject({ status: 403, json: { code: "ADMIN_AUTH" } });
});

test("changes that break a rule, or need an ensemble or an admin port, are refused", async () => {
  await using stage = await startStage();
  const alone = await stage.api("POST", "/members/check", { body: { kind: "remove", sid: 1 } });
  expect(alone).toMatchObject({ status: 422, json: { code: "NO_ENSEMBLE" } });
  expect(await stage.api("GET", "/drain?sid=7")).toMatchObject({ status: 501, json: { code: "NO_ADMIN_PORT" } });
});

test("only operators change members", async () => {
  await using stage = await startStage({ address: "0.0.0.0" });
  for (const path of ["/members/check", "/members", "/leader/transfer", "/drain"]) {
    expect(await stage.api("POST", path, { body: {} })).toMatchObject({ status: 403, json: { code: "ROLE" } });
  }
});
