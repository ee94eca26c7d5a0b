import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { PeerProcess } from "../../servers/peer-process.ts";
import { compileSystem, JavaProgram, sourcesOf } from "../java-program.ts";
import { type EnsembleServer, hostsOf, led, nodesBelow } from "../system-ensemble.ts";
import type { System, SystemPlace } from "../system-run.ts";

const OVERSEER_DEADLINE_MS = 60_000;
const STEP_DOCUMENTS = 500;
const NODES = [1, 2] as const;
const CHROOT = "/solr";
const QUIET = "-Dlog4j2.level=off";

const SOLR_XML = `<solr>
  <solrcloud>
    <str name="host">127.0.0.1</str>
    <int name="hostPort">\${hostPort}</int>
    <str name="hostContext">solr</str>
    <int name="zkClientTimeout">10000</int>
  </solrcloud>
</solr>
`;

/**
 * Two nodes of SolrCloud go through the death of the ensemble's leader, the death of their overseer
 * and a restart of each server of the ensemble. Needs java, javac and mvn.
 */
export const SOLR: System = { name: "solr", portCount: NODES.length, run: runSolr };

interface Node {
  /** As Solr names it. */
  readonly name: string;
  readonly program: JavaProgram;
}

async function runSolr({ servers, folder, ports }: SystemPlace): Promise<readonly string[]> {
  const classpath = compileSystem("solr");
  const hosts = hostsOf(servers);
  const nodes = NODES.map((id) => {
    const port = ports[id - 1] ?? 0;
    const home = join(folder, `node-${id}`);
    mkdirSync(home);
    writeFileSync(join(home, "solr.xml"), SOLR_XML);
    const properties = [`-DzkHost=${hosts}${CHROOT}`, `-DhostPort=${port}`, `-Dsolr.log.dir=${home}`];
    const args = ["-Xmx384m", ...properties, "-cp", classpath, "SolrNode", String(port), home];
    return { name: `127.0.0.1:${port}_solr`, program: new JavaProgram(home, args) };
  });
  await led(servers);
  await makeChroot(hosts);
  try {
    for (const { program } of nodes) program.start();
    const documents = new PeerProcess("java", ["-Xmx256m", QUIET, "-cp", classpath, "Documents", hosts, CHROOT]);
    try {
      const lines = await scenario(documents, servers, nodes);
      const left = await nodesBelow(CHROOT, servers, {
        isPending: (path) =>
          /^\/overseer\/(queue|queue-work|collection-map-running|collection-queue-work)\/./.test(path),
        masked: (path) => maskedPath(path, ports),
      });
      return [...lines, ...left.toSorted()];
    } finally {
      await documents.kill();
    }
  } finally {
    await Promise.all(nodes.map(({ program }) => program.end("SIGKILL")));
  }
}

/** Solr starts only where its chroot is. */
async function makeChroot(hosts: string): Promise<void> {
  await using client = await connect(hosts);
  await client.create(CHROOT, "");
}

/** Sessions, sequence numbers, the numbers of replicas and ports differ from run to run. */
function maskedPath(path: string, ports: readonly number[]): string {
  let masked = path
    .replace(/n_\d{10}$/, "n_N")
    .replace(/\/\d{10,}-/, "/SESSION-")
    .replace(/core_node\d+/, "core_node");
  for (const [i, port] of ports.entries()) masked = masked.replace(`:${port}_`, `:PORT${i + 1}_`);
  return masked;
}

async function scenario(
  documents: PeerProcess,
  servers: readonly EnsembleServer[],
  nodes: readonly Node[],
): Promise<readonly string[]> {
  const lines: string[] = [];
  let indexed = 0;
  const ask = async (...words: readonly unknown[]): Promise<void> => {
    const shown = words.filter((word) => !String(word).startsWith("/"));
    const answer = await documents.ask(...words);
    if (answer.startsWith("failed")) throw new Error(`${words.join(" ")} ${answer}`);
    lines.push(`${shown.join(" ")}: ${answer}`);
  };
  const index = async (): Promise<void> => {
    await ask("index", "t", indexed, STEP_DOCUMENTS);
    indexed += STEP_DOCUMENTS;
  };

  await ask("upload", "c", join(sourcesOf("solr"), "configset"));
  await ask("nodes", NODES.length);
  await ask("create", "t", "c", 2, 2);
  await ask("active", "t", 2);
  await index();
  await ask("add-field", "t", "colour");
  await ask("alias", "everything", "t");
  await ask("property", "t", "owner", "zooid");
  await ask("find", "everything", indexed);

  lines.push("the ensemble's leader dies");
  const leader = await led(servers);
  await leader.kill();
  await index();
  await led(servers.filter((server) => server !== leader));
  await ask("create", "made-without-it", "c", 1, 2);
  await leader.launch();
  await led(servers);

  lines.push("the overseer dies");
  const before = await documents.ask("overseer");
  const overseer = nodes.find(({ name }) => name === before);
  if (overseer === undefined) throw new Error(`no node is the overseer: ${before}`);
  await overseer.program.end("SIGKILL");
  const deadline = performance.now() + OVERSEER_DEADLINE_MS;
  for (let after = before; after === before || after.startsWith("failed"); after = await documents.ask("overseer")) {
    if (performance.now() > deadline) throw new Error(`${before} died, and is still the overseer`);
    await delay(200);
  }
  await ask("active", "t", 1);
  await index();
  overseer.program.start();
  await ask("nodes", NODES.length);
  await ask("active", "t", 2);

  for (const [i, server] of servers.entries()) {
    lines.push(`server ${i + 1} of the ensemble restarts`);
    await server.stop();
    await index();
    await server.launch();
    await led(servers);
  }

  await ask("active", "t", 2);
  await ask("find", "t", indexed);
  await ask("unalias", "everything");
  await ask("delete", "made-without-it");
  await ask("collections");
  return lines;
}
