import { equal, ok } from "node:assert/strict";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { fourLetterWord } from "@zooid/conformance/internal/servers/endpoint";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Side } from "../apache-import/moved-side.ts";
import { FollowerProcess } from "./follower-process.ts";

const SIDS = [1, 2, 3];
const TOO_OLD = "3.4.14";
/** The status of a follower that cannot continue. */
const NOT_FOLLOWED = 6;

/** A follower of an ensemble of 3.4 ends with a sentence, and the ensemble serves on. */
export async function refuseOldEnsemble(folder: string): Promise<string> {
  const ports = await freePorts(10);
  await using apache = new Side({
    kind: "apache",
    folder,
    ports,
    sids: SIDS,
    jars: fetchApacheJars(TOO_OLD),
    sessionMs: 40_000,
  });
  await Promise.all(apache.servers.map((server) => server.start()));
  const hosts = SIDS.map((_, i) => apache.addressOf(i)).join(",");
  await using follower = new FollowerProcess(join(folder, "follower"), hosts, ports[9] ?? 0);
  const roles = await rolesOf(apache);
  follower.launch();
  const { status, log } = await follower.ended();
  equal(status, NOT_FOLLOWED, log);
  ok(/versions before 3\.5/.test(log), log);
  await using zk = await connect(apache.hosts);
  // It has no create that answers with a Stat.
  await zk.set("/", "served");
  equal(await rolesOf(apache), roles, "another server leads");
  return `${TOO_OLD} is refused, and serves on`;
}

async function rolesOf(apache: Side): Promise<string> {
  const answers = await Promise.all(apache.servers.map(({ port }) => fourLetterWord(port, "srvr")));
  return answers.map((answer) => /Mode: (\w+)/.exec(answer)?.[1]).join(", ");
}
