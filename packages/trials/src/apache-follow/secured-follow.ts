import { ok } from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApachePeerError, type FollowOptions, follow, type PeerTls } from "@zooid/apache-peer";
import { connect } from "@zooid/client";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { writeSecuredMaterial } from "@zooid/conformance/internal/security/secured-material";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Side } from "../apache-import/moved-side.ts";

const SIDS = [1, 2, 3];
const LOGIN_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule required";
const USER = { username: "learner", password: "a secret" };
const JAAS = `QuorumServer {\n  ${LOGIN_MODULE}\n  user_${USER.username}="${USER.password}";\n};
QuorumLearner {\n  ${LOGIN_MODULE}\n  username="${USER.username}"\n  password="${USER.password}";\n};\n`;

/**
 * Follows an ensemble whose servers require TLS and a login, and is turned away without either; the
 * ensemble serves on.
 */
export async function followSecured(version: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeSecuredMaterial(folder);
  writeFileSync(join(folder, "quorum-jaas.conf"), JAAS);
  const ports = await freePorts(9);
  await using apache = new Side({
    kind: "apache",
    folder,
    ports,
    sids: SIDS,
    jars: fetchApacheJars(version),
    sessionMs: 40_000,
    // From 3.9 on DIGEST-MD5 is off unless this is said.
    properties: [
      `-Djava.security.auth.login.config=${join(folder, "quorum-jaas.conf")}`,
      "-Dzookeeper.fips-mode=false",
    ],
    settings: () => [
      "sslQuorum=true",
      `ssl.quorum.keyStore.location=${join(folder, "server.pem")}`,
      `ssl.quorum.trustStore.location=${join(folder, "authority.pem")}`,
      "quorum.auth.enableSasl=true",
      "quorum.auth.learnerRequireSasl=true",
      "quorum.auth.serverRequireSasl=true",
    ],
  });
  await Promise.all(apache.servers.map((server) => server.start()));
  const hosts = SIDS.map((_, i) => `127.0.0.1:${ports[3 + i]}`).join(",");
  const tls = tlsOf(folder, "alice", "authority");
  const outcomes = {
    "with TLS and login": await outcome(hosts, { tls, login: USER }),
    "with another password": await outcome(hosts, { tls, login: { ...USER, password: "another" } }),
    "without login": await outcome(hosts, { tls }),
    "without TLS": await outcome(hosts, { login: USER }),
    "with a stranger's certificate": await outcome(hosts, { tls: tlsOf(folder, "stranger", "authority"), login: USER }),
    "trusting another authority": await outcome(hosts, { tls: tlsOf(folder, "alice", "other-authority"), login: USER }),
  };
  for (const [how, found] of Object.entries(outcomes)) console.log(`  ${how}: ${found}`);
  const expected = ["up-to-date", "LOGIN_FAILED", "no-leader", "no-leader", "no-leader", "no-leader"];
  for (const [i, found] of Object.values(outcomes).entries())
    ok(found.startsWith(expected[i] ?? ""), `${found}, where ${expected[i]} was expected`);
  await using zk = await connect(apache.hosts);
  await zk.create("/served", "");
}

function tlsOf(folder: string, holder: string, authority: string): PeerTls {
  const pem = readFileSync(join(folder, `${holder}.pem`), "utf8");
  return { key: pem, cert: pem, ca: readFileSync(join(folder, `${authority}.pem`), "utf8") };
}

/** Whether all came, the search found no leader, or the follower failed. */
async function outcome(hosts: string, options: FollowOptions): Promise<string> {
  await using follower = follow(hosts, options);
  try {
    for await (const event of follower) {
      if (event.kind === "up-to-date") return event.kind;
      if (event.kind === "no-leader")
        return `${event.kind} (${event.failures.map(({ error }) => error.message).join("; ")})`;
    }
  } catch (error) {
    if (!(error instanceof ApachePeerError)) throw error;
    return `${error.code} (${error.message})`;
  }
  return "nothing";
}
