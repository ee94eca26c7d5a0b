/** Findings about the servers' versions, roles and epochs. */
import { counted, EPOCH_MAX } from "@zooid/model";
import { cliCommand, plainCall } from "../cli-call.ts";
import { type Finding, finding } from "../finding.ts";
import type { ApacheFacts, ApacheReport, ApacheServerFacts } from "./apache-facts.ts";
import { APACHE_SETTINGS, isSeen, namesOf, settingValue } from "./seen-setting.ts";

/** The versions that the follower knows. */
const OLDEST_MINOR = 5;
const NEWEST_MINOR = 9;
/** Their transactions have digests. */
const DIGEST_MINOR = 6;
/** A new history begins this far above Apache's last epoch. */
const EPOCHS_ABOVE = 1024;

export function versions({ servers }: ApacheFacts): readonly Finding[] {
  return [
    ...servers.flatMap(ofServer),
    ...withoutLeader(servers),
    ...different(servers),
    ...epochs(servers),
    ...withoutDigests(servers),
  ];
}

function ofServer({ address, report }: ApacheServerFacts): readonly Finding[] {
  if (typeof report === "string") {
    const remedy = "start it, or name its client port as HOST:PORT; srvr must be in its 4lw.commands.whitelist";
    return [finding("apache-silent", address, report, remedy)];
  }
  const { version, isZooid } = report;
  if (isZooid) {
    const remedy = `name the servers that are to be moved; for an ensemble of Zooid: ${cliCommand(plainCall(address), "doctor")}`;
    return [finding("apache-is-zooid", address, "it is a server of Zooid", remedy)];
  }
  if (version === undefined) return [];
  const minor = minorOf(version);
  if (minor !== undefined && minor >= OLDEST_MINOR && minor <= NEWEST_MINOR) return [];
  const isOlder = minor === undefined ? version.startsWith("2.") : minor < OLDEST_MINOR;
  const remedy = isOlder
    ? "restart the servers one by one with Apache ZooKeeper 3.5.10 or later, then check again; or stop them and type zooid-server import --apache DIR1,DIR2,DIR3 --data NEW"
    : "stop the servers and type zooid-server import --apache DIR1,DIR2,DIR3 --data NEW, which checks what it reads";
  return [finding("apache-version", address, `it runs ${version}; 3.5 to 3.9 can be followed`, remedy)];
}

/** 9 for `3.9.5`. */
function minorOf(version: string): number | undefined {
  const [, minor] = /^3\.(\d+)/.exec(version) ?? [];
  return minor === undefined ? undefined : Number(minor);
}

function reports(servers: readonly ApacheServerFacts[]): readonly ApacheReport[] {
  return servers.flatMap(({ report }) => (typeof report === "string" || report.isZooid ? [] : [report]));
}

function withoutLeader(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const answering = reports(servers);
  if (answering.length === 0) return [];
  if (answering.some(({ mode }) => mode === "leader" || mode === "standalone")) return [];
  const found = `none of ${counted(answering.length, "server that answers", "servers that answer")} leads`;
  return [finding("apache-no-leader", namesOf(servers), found, "name all servers of the ensemble, and start them")];
}

function different(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const known = servers.flatMap(({ address, report }) =>
    typeof report === "string" || report.version === undefined ? [] : [{ address, version: report.version }],
  );
  const byVersion = Map.groupBy(known, ({ version }) => version);
  if (byVersion.size < 2) return [];
  const found = [...byVersion]
    .map(([version, those]) => `${version} at ${those.map(({ address }) => address).join(", ")}`)
    .join("; ");
  return [finding("apache-versions-differ", "the ensemble", found, "complete the upgrade of Apache's servers first")];
}

function epochs(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const epoch = Math.max(0, ...reports(servers).map((report) => report.epoch ?? 0));
  if (epoch + EPOCHS_ABOVE < EPOCH_MAX) return [];
  const found = `its epoch is ${epoch}, and the last one of Zooid is ${EPOCH_MAX - 1}`;
  const [{ address = "" } = {}] = servers;
  const commands = [
    cliCommand(plainCall(address), "export / FILE"),
    cliCommand(plainCall("NEWHOST:2181"), "import FILE /"),
  ];
  const remedy = `copy the tree to new servers: ${commands.join(", then ")}; sessions and zxids begin again`;
  return [finding("apache-epochs", "the ensemble", found, remedy)];
}

function withoutDigests(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const { digests } = APACHE_SETTINGS;
  const without = servers.filter((server) => {
    const { report } = server;
    if (typeof report === "string" || report.version === undefined || report.isZooid) return false;
    if ((minorOf(report.version) ?? DIGEST_MINOR) < DIGEST_MINOR) return true;
    return isSeen(server, digests) && settingValue(server, digests)?.trim().toLowerCase() === "false";
  });
  if (without.length === 0) return [];
  const found = `${counted(without.length, "server sends", "servers send")} no digest with a transaction: ${namesOf(without)}`;
  const remedy = "compare both trees before the switch (docs/migration.md); or zookeeper.digest.enabled=true with 3.6";
  return [finding("digests-missing", "the ensemble", found, remedy)];
}
