import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { PATIENT } from "@zooid/embedded-server/testing/patient";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterAll, expect, test } from "vitest";
import { wordsByConnection } from "../src/facts/ensemble-facts.ts";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

const SIDS = [1, 2, 3];

test("a member that stops is the first thing on the page, with what to do, until it is back", async () => {
  const ports = await freePorts(SIDS.length * 3);
  const [clientPorts, quorumPorts, electionPorts] = [ports.slice(0, 3), ports.slice(3, 6), ports.slice(6)];
  const servers = SIDS.map((sid, i) => ({
    sid,
    host: "127.0.0.1",
    quorumPort: quorumPorts[i] ?? 0,
    electionPort: electionPorts[i] ?? 0,
    clientAddress: { host: "127.0.0.1", port: clientPorts[i] ?? 0 },
  }));
  const start = (sid: number): Promise<ZooidServer> =>
    startServer({ port: clientPorts[sid - 1] ?? 0, ensemble: { sid, servers, ...PATIENT } });
  const members = await Promise.all(SIDS.map(start));
  try {
    await using stage = await startBrowserStage({ hosts: clientPorts.map((port) => `127.0.0.1:${port}`).join(",") });
    const page = await stage.open("#/ensemble");
    const [leaders, followers] = [page.locator(".member .role-leader"), page.locator(".member .role-follower")];
    await followers.nth(1).waitFor();
    await leaders.waitFor();
    const victim = members.find(({ summary }) => summary.role === "following");
    const sid = members.indexOf(victim as ZooidServer) + 1;
    await victim?.stop();
    const problems = page.getByRole("list", { name: "Problems" });
    await problems.getByText(`127.0.0.1:${clientPorts[sid - 1]} does not answer`).waitFor();
    await problems.getByText("No failure is tolerated now").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await screenshot(page, "ensemble-light");
    members[sid - 1] = await start(sid);
    await problems.getByText("No failure is tolerated now").waitFor({ state: "detached" });
    await followers.nth(1).waitFor();
  } finally {
    await Promise.all(members.map((member) => member.stop()));
  }
});

test("a disk with little room and a certificate that expires are problems, beside the figures of the member", async () => {
  const expiresAt = Math.floor(Date.now() / 1000) + 3 * 86_400 + 60;
  const figures = [
    ...["zk_zooid_disk_low\t1", "zk_zooid_disk_full\t0", "zk_data_zooid_disk_free_bytes\t3221225472"],
    ...["zk_log_zooid_disk_free_bytes\t1073741824", `zk_clients_zooid_tls_certificate_not_after_seconds\t${expiresAt}`],
  ].join("\n");
  const words = wordsByConnection();
  await using stage = await startBrowserStage({
    words: (member, word, signal) => (word === "mntr" ? Promise.resolve(figures) : words(member, word, signal)),
  });
  const page = await stage.open("#/ensemble");
  const problems = page.getByRole("list", { name: "Problems" });
  await problems.getByText("has little room on its disk").waitFor();
  await problems.getByText(/The certificate of \S+ for clients expires in 3 days/).waitFor();
  await page.locator("article.member").getByText("3.0 GiB for data, 1.0 GiB for the log: low").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "storage-light");
});
