/**
 * The first hour of a developer and of an operator, from packed tarballs alone in an empty folder: the
 * README's commands, and mistakes. Prints each command with its output, status and time.
 *
 *     npm run tool -- first-hour
 *
 * It needs root for a network namespace of its own: the README's ports are fixed.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Consumer } from "./consumer.ts";
import { publicPackages, ROOT } from "./public-packages.ts";
import { pack } from "./tarball.ts";
import { serveTarballs } from "./tarball-registry.ts";

const PACKED = ["zooid-server", "zooid-cli", "zooid-bench", "@zooid/client", "@zooid/recipes", "rxjs"];
const ONE = "127.0.0.1:2181";
const ALL = "127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183";

const CONNECT = `import { connect } from "@zooid/client";\nconst zk = await connect("${ONE}");\n`;
const RECIPES = `import { Mutex } from "@zooid/recipes";\n${CONNECT}`;

const PROGRAMS: Readonly<Record<string, string>> = {
  "greeting.mjs": `import { connect, text } from "@zooid/client";
const zk = await connect("${ONE}");
const seen = zk.watchData$("/greeting", { codec: text }).subscribe((node) => console.log(node.value));
await zk.set("/greeting", "hello, world");
await zk.getText("/greeting");
seen.unsubscribe();
await zk.close();
`,
  "lock.mjs": `${RECIPES}const lease = await new Mutex(zk, "/locks/report").acquire();
console.log("held:", lease.isValid(), "token:", lease.token);
await lease.release();
await zk.close();
`,
  "wrong-mode.mjs": `${CONNECT}await zk.create("/a", "1", { mode: "EPHEMERAL" });\n`,
  "wrong-option.mjs": `${CONNECT}await zk.create("/a", "1", { ephemeral: true });\n`,
  "wrong-timeout.mjs": `import { connect } from "@zooid/client";\nawait connect("${ONE}", { sessionTimeout: 1 });\n`,
  "wrong-data.mjs": `${CONNECT}await zk.set("/greeting", { a: 1 });\n`,
  "wrong-path.mjs": `${CONNECT}await zk.get(undefined);\n`,
  "wrong-slash.mjs": `${CONNECT}await zk.get("/greeting/");\n`,
  "wrong-lock.mjs": `${RECIPES}new Mutex(zk, "locks/x");\n`,
  "wrong-scheme.mjs": `import { connect } from "@zooid/client";\nawait connect("zookeeper://${ONE}");\n`,
  "wrong-port.mjs": `import { connect } from "@zooid/client";\nawait connect("127.0.0.1:2199", { startTimeoutMs: 1000 });\n`,
};

const folder = mkdtempSync(join(tmpdir(), "first-hour-"));
try {
  await firstHour();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function firstHour(): Promise<void> {
  const all = publicPackages();
  const tarballs = await pack(all, folder);
  await using registry = await serveTarballs(tarballs);
  const directory = join(folder, "empty");
  const consumer = new Consumer({ directory, nodeBinary: process.execPath, registryUrl: registry.url });
  const began = performance.now();
  const files = PACKED.map((name) => tarballs.find(({ manifest }) => manifest.name === name)?.file ?? name);
  await consumer.install(files);
  console.log(`$ npm install ${PACKED.join(" ")}`);
  console.log(`# ${((performance.now() - began) / 1000).toFixed(2)} s, ${consumer.installed().length} packages\n`);
  for (const [name, text] of Object.entries(PROGRAMS)) consumer.write(name, text);
  consumer.write("hour.sh", scriptOf([...developerSteps(), ...operatorSteps()]));
  const child = spawn("unshare", ["--net", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "hour.sh"], {
    cwd: directory,
    env: { ...consumer.environment, NO_COLOR: "1" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once("close", resolve);
  process.exitCode = (await promise) ?? 1;
}

/** A command as it is typed, or a heading. */
type Step = string | { readonly heading: string };

function developerSteps(): readonly Step[] {
  return [
    { heading: "A developer" },
    "npx zooid-server > server.log 2>&1 &\nuntil grep -q 'serves ZooKeeper clients' server.log; do sleep 0.02; done; cat server.log",
    `npx zooid-cli -server ${ONE} create /greeting hello`,
    `npx zooid-cli -server ${ONE} tree /`,
    "node greeting.mjs",
    "node lock.mjs",
    { heading: "A developer's mistakes" },
    ...Object.keys(PROGRAMS)
      .filter((name) => name.startsWith("wrong-"))
      .map((name) => `cat ${name}; node ${name}`),
    `npx zooid-cli -server ${ONE} gett /greeting`,
    `npx zooid-cli -server ${ONE} --json ls -q /`,
    "kill $(pgrep -f apps/server/dist/main.js || pgrep -f zooid-server) && sleep 1 && tail -1 server.log",
  ];
}

function operatorSteps(): readonly Step[] {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const shellBlocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text ?? "");
  const ensemble = shellBlocks.find((text) => text.includes("server.1="));
  if (ensemble === undefined) throw new Error("the README starts no ensemble");
  return [
    { heading: "An operator" },
    ensemble.trimEnd(),
    "for n in 1 2; do grep -hE 'LOOKING|LEADING|FOLLOWING' ensemble/$n/server.log | tail -2; done",
    "npx zooid-server status --port 2181 --set admin.serverPort=8081",
    "curl -s http://127.0.0.1:8081/readyz; echo",
    "curl -s http://127.0.0.1:8081/metrics | grep -E '^(znode_count|zooid_peer_connected|quorum_size)'",
    "curl -s -o console.html -w '%{http_code} %{size_download} bytes\\n' http://127.0.0.1:8081/console/",
    { heading: "An operator's mistakes" },
    "npx zooid-server --prot 2184",
    "npx zooid-server --port 2184 --data /proc/foo",
    "npx zooid-server --port 2184 --set tickTimes=2000 --set admin.enableServer=false > wrong.log 2>&1 & sleep 2; kill %1; grep -i ticktimes wrong.log",
    "npx zooid-server --port 2181 --set admin.enableServer=false",
    `npx zooid-cli -server 127.0.0.1:2199 ls /`,
    "kill -9 $(pgrep -f ensemble/2/zoo.cfg); sleep 1; npx zooid-cli -server 127.0.0.1:2181 ls /",
    `npx zooid-cli -server ${ALL} status`,
    "tail -2 ensemble/1/server.log; curl -s http://127.0.0.1:8081/readyz; echo",
    "npx zooid-server ensemble/2/zoo.cfg > ensemble/2/server.log 2>&1 & npx zooid-server ensemble/3/zoo.cfg > ensemble/3/server.log 2>&1 &\nsleep 3",
    `npx zooid-cli -server ${ALL} get /greeting`,
    `npx zooid-cli -server ${ALL} status`,
    `npx zooid-bench check --hosts ${ALL} --duration 3s`,
  ];
}

/** Commands share a shell, as they would in a terminal. */
function scriptOf(steps: readonly Step[]): string {
  const lines = ["ip link set lo up", "set +m"];
  for (const step of steps) {
    if (typeof step !== "string") {
      lines.push(`printf '== %s\\n\\n' ${quoted(step.heading)}`);
      continue;
    }
    lines.push(`printf '$ %s\\n' ${quoted(step)}`, "at=$EPOCHREALTIME");
    lines.push(`{ ${step}\n} 2>&1`, "status=$?");
    lines.push(
      `awk -v a="$at" -v b="$EPOCHREALTIME" -v s="$status" 'BEGIN { printf "# status %d, %.2f s\\n\\n", s, b - a }'`,
    );
  }
  lines.push("exit 0");
  return `${lines.join("\n")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
