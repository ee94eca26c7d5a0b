import { startServer, type ZooidServer } from "@zooid/server";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, startBrowserStage } from "./browser-stage.ts";

afterAll(closeBrowser);

const SIDS = [1, 2, 3];

test("a member that stops is the first thing on the page, with what to do, until it is back", async () => {
  const ports = await freePorts(SIDS.length * 3);
  const [clientPorts, quorumPorts, electionPorts] = [ports.slice(0, 3), ports.slice(3, 6), ports.slice(6)];
  const servers = SIDS.map((sid, i) => ({
    ...{ sid, host: "127.0.0.1", quorumPort: quorumPorts[i] ?? 0, electionPort: electionPorts[i] ?? 0 },
    clientAddress: { host: "127.0.0.1", port: clientPorts[i] ?? 0 },
  }));
  const start = (sid: number): Promise<ZooidServer> =>
    startServer({ port: clientPorts[sid - 1] ?? 0, ensemble: { sid, servers } });
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
