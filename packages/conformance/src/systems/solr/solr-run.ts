import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { PeerProcess } from "../../servers/peer-process.ts";
import { compileSystem, JavaProgram, sourcesOf } from "../java-program.ts";
import { type EnsembleServer, hostsOf, led, nodesBelow } from "../system-ensemble.ts";
import type { System, SystemPlace } from "../system-run.ts";
import { SystemScript } from "../system-script.ts";

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
 * Two nodes of SolrCloud, while the ensemble's leader is killed, then their overseer, and then each
 * server of the ensemble is restarted. Needs java, javac and mvn.
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
    await Promise.all(nodes.map(({ program }) => program.end()));
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
  const script = new SystemScript(documents, servers);
  const { lines } = script;
  const ask = (...words: readonly unknown[]): Promise<void> => script.ask(...words);
  let indexed = 0;
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

  await script.killLeader(index, () => ask("create", "made-without-it", "c", 1, 2));

  lines.push("the overseer dies");
  const dead = await script.killHolder("overseer", (name) => nodes.find((node) => node.name === name)?.program);
  await ask("active", "t", 1);
  await index();
  dead.start();
  await ask("nodes", NODES.length);
  await ask("active", "t", 2);

  await script.restartEach(index);

  await ask("active", "t", 2);
  await ask("find", "t", indexed);
  await ask("unalias", "everything");
  await ask("delete", "made-without-it");
  await ask("collections");
  return lines;
}
