import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { FindingId } from "@zooid/doctor";

/** A server's configuration and machine with one thing wrong, for `zooid-server check`. */
export interface MachineSetup {
  readonly name: string;
  /** The finding that is expected. */
  readonly id: FindingId;
  /** Lines of zoo.cfg instead of the sound ones of the same key. */
  readonly settings?: readonly string[];
  /** Before the check; it may add lines. */
  prepare?(place: SetupPlace): readonly string[] | Promise<readonly string[]>;
  /** Does what the finding's remedy says, so that it is found no more. Missing: correct zoo.cfg. */
  remedy?(place: SetupPlace, remedy: string): void | Promise<void>;
  /** A command of the shell that the check runs behind, in name spaces of its own. */
  readonly shell?: (place: SetupPlace) => string;
  /** Whether the name spaces have a network of their own. */
  readonly hasOwnNetwork?: true;
  /** The number of the user that runs the check. Default: that of the trial. */
  readonly user?: number;
}

/** Where a set-up has its files. */
export interface SetupPlace {
  readonly folder: string;
  readonly dataDir: string;
  readonly zooCfg: string;
  /** Free ports. */
  readonly ports: readonly number[];
  /** Ended with the set-up. */
  readonly servers: Server[];
  /** Likewise. */
  readonly programs: ListeningProgram[];
}

export interface ListeningProgram {
  readonly ended: Promise<void>;
  end(): void;
}

/** A user that owns nothing. */
const STRANGER = 54_321;

const TRUSTED = "zooid.allowUnauthenticatedPeers=true";

export const MACHINE_SETUPS: readonly MachineSetup[] = [
  portSetup("the port for clients", "port-taken", (port) => [`clientPort=${port}`]),
  portSetup("the port for clients with TLS", "port-taken", (port, place) => [
    `secureClientPort=${port}`,
    "secureClientPortAddress=127.0.0.1",
    `ssl.keyStore.location=${certificate(place, 365)}`,
    "ssl.clientAuth=none",
  ]),
  portSetup("the quorum port", "port-taken", (port) => [
    `server.1=127.0.0.1:${port}:3888`,
    ...localServers(3).slice(1),
  ]),
  portSetup("the election port", "port-taken", (port) => [
    `server.1=127.0.0.1:2888:${port}`,
    ...localServers(3).slice(1),
  ]),
  portSetup("the admin port", "optional-port-closed", (port) => [`admin.serverPort=${port}`]),
  portSetup("the metrics port", "optional-port-closed", (port) => [
    "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider",
    "metricsProvider.httpHost=127.0.0.1",
    `metricsProvider.httpPort=${port}`,
  ]),
  portSetup("the observers' port", "optional-port-closed", (port) => [
    ...localServers(3),
    `observerMasterPort=${port}`,
  ]),
  {
    name: "a port that only the superuser may bind",
    id: "port-refused",
    settings: ["clientPort=81"],
    // Containers mostly allow all ports to all users.
    shell: () => "sysctl -qw net.ipv4.ip_unprivileged_port_start=1024",
    hasOwnNetwork: true,
    user: STRANGER,
  },
  { name: "an address of another machine", id: "port-refused", settings: ["clientPortAddress=203.0.113.9"] },
  {
    name: "a data directory of another user",
    id: "directory-unusable",
    user: STRANGER,
    remedy: ({ dataDir }, remedy) => typedCommand(remedy, new RegExp(`chown -R ${STRANGER} ${dataDir}`)),
  },
  {
    name: "a log directory below one of another user, which cannot be made",
    id: "directory-unusable",
    user: STRANGER,
    prepare({ folder, dataDir }) {
      chownSync(dataDir, STRANGER, STRANGER);
      mkdirSync(join(folder, "logs"));
      return [`dataLogDir=${join(folder, "logs", "zooid")}`];
    },
    remedy: ({ folder }, remedy) => typedCommand(remedy, new RegExp(`chown -R ${STRANGER} ${join(folder, "logs")}`)),
  },
  {
    name: "a file in the place of the log directory",
    id: "directory-unusable",
    prepare({ folder }) {
      writeFileSync(join(folder, "log"), "");
      return [`dataLogDir=${join(folder, "log")}`];
    },
    remedy: ({ folder }, remedy) => typedCommand(remedy, new RegExp(`mv ${join(folder, "log")} \\S+(?=\\))`)),
  },
  {
    name: "a data directory that is mounted read-only",
    id: "directory-unusable",
    shell: ({ dataDir }) => `mount --bind ${dataDir} ${dataDir} && mount -o remount,bind,ro ${dataDir}`,
  },
  { name: "a value out of its range", id: "configuration-refused", settings: ["tickTime=0"] },
  { name: "a value that is none", id: "configuration-refused", settings: ["clientPort=x"] },
  { name: "a misspelt key that decides about votes", id: "configuration-refused", settings: ["initLimt=3"] },
  { name: "a misspelt key", id: "setting-doubtful", settings: ["snapCoun=3"] },
  { name: "two voters", id: "even-voters", settings: localServers(2) },
  { name: "four voters", id: "even-voters", settings: localServers(4) },
  {
    name: "a host without an address",
    id: "host-unresolved",
    settings: [...localServers(2), "server.3=no-host.invalid:2888:3888", TRUSTED],
  },
  {
    name: "a server that is down",
    id: "peer-port-closed",
    prepare: ({ ports: [, , port] }) => [
      ...localServers(1),
      `server.2=127.0.0.1:2889:${port}`,
      "server.3=127.0.0.1:2890:1",
    ],
    async remedy({ ports: [, , port], servers, zooCfg }) {
      // Server 2 is started, and server 3 leaves.
      const server = createServer().listen(port, "127.0.0.1");
      servers.push(server);
      await new Promise((resolve) => server.once("listening", resolve));
      write(zooCfg, (lines) => lines.filter((line) => !line.startsWith("server.3")));
    },
  },
  {
    name: "another machine's line as its own",
    id: "own-host-elsewhere",
    settings: ["server.1=203.0.113.9:2888:3888", "server.2=203.0.113.10:2888:3888", TRUSTED],
  },
  {
    name: "its own name on the loopback, as Debian installs it",
    id: "own-host-loopback",
    settings: ["server.1=own-name:2888:3888", "server.2=203.0.113.10:2888:3888", TRUSTED],
    prepare: ({ folder }) => {
      writeFileSync(join(folder, "hosts"), "127.0.0.1 localhost\n127.0.1.1 own-name\n");
      return [];
    },
    shell: ({ folder }) => `mount --bind ${folder}/hosts /etc/hosts`,
    remedy: ({ folder }) => writeFileSync(join(folder, "hosts"), "127.0.0.1 localhost\n203.0.113.9 own-name\n"),
  },
  {
    name: "data in memory",
    id: "data-in-memory",
    shell: ({ dataDir }) => `mount -t tmpfs none ${dataDir} && echo 1 > ${dataDir}/myid`,
  },
  {
    name: "data in a container's own file system",
    id: "data-on-overlay",
    prepare: ({ folder }) => {
      for (const part of ["lower", "upper", "work"]) mkdirSync(join(folder, part));
      return [];
    },
    // The layers are on a disk that is none of an overlay.
    shell: ({ folder, dataDir }) =>
      `mount -t tmpfs none ${folder}/lower && mkdir ${folder}/lower/l ${folder}/lower/u ${folder}/lower/w && ` +
      `mount -t overlay overlay -o lowerdir=${folder}/lower/l,upperdir=${folder}/lower/u,workdir=${folder}/lower/w ${dataDir} && echo 1 > ${dataDir}/myid`,
  },
  {
    name: "a full disk",
    id: "disk-nearly-full",
    shell: ({ dataDir }) =>
      `mount -t tmpfs -o size=16m none ${dataDir} && echo 1 > ${dataDir}/myid && head -c 16000000 /dev/zero > ${dataDir}/filler`,
  },
  { name: "a tree larger than the machine", id: "memory-short", settings: [`zooid.heldBytesMax=${10 ** 15}`] },
  { name: "few descriptors", id: "descriptors-few", shell: () => "ulimit -n 1024" },
  {
    name: "a secret that all may read",
    id: "secret-readable",
    prepare: ({ folder }) => {
      const file = join(folder, "password");
      writeFileSync(file, "secret");
      chmodSync(file, 0o644);
      return [`ssl.keyStore.passwordPath=${file}`];
    },
    remedy: typed,
  },
  {
    name: "a configuration with a password that all may read",
    id: "secret-readable",
    settings: ["ssl.quorum.keyStore.password=hello"],
    remedy: typed,
  },
  {
    name: "a certificate that ends next week",
    id: "certificate-ends",
    prepare: (place) => [`ssl.keyStore.location=${certificate(place, 7)}`],
    remedy: (place) => void certificate(place, 365),
  },
  {
    name: "peers that prove nothing",
    id: "peers-unauthenticated",
    settings: ["server.1=127.0.0.1:2888:3888", "server.2=203.0.113.10:2888:3888", TRUSTED],
  },
];

/** Another program listens where the server would, on the loopback; the remedy ends it. */
function portSetup(
  name: string,
  id: FindingId,
  linesOf: (port: number, place: SetupPlace) => readonly string[],
): MachineSetup {
  return {
    name: `${name} in use`,
    id,
    async prepare(place) {
      const [, port = 0] = place.ports;
      place.programs.push(await listeningProgram(port));
      return linesOf(port, place);
    },
    remedy: (place, remedy) => {
      typedCommand(remedy, /kill \d+/);
      return place.programs[0]?.ended;
    },
  };
}

/** A process that listens on a port of the loopback. */
async function listeningProgram(port: number): Promise<ListeningProgram> {
  const script = `require("net").createServer().listen(${port}, "127.0.0.1", () => console.log("listening"))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit").then(() => {});
  await once(child.stdout, "data");
  return { ended, end: () => void child.kill() };
}

/** The command within a remedy. */
function typedCommand(remedy: string, pattern: RegExp): void {
  const [command] = pattern.exec(remedy) ?? [];
  if (command === undefined) throw new Error(`the remedy has no command ${pattern}: ${remedy}`);
  execFileSync("sh", ["-c", command]);
}

/** The remedy is a command. */
function typed(_: SetupPlace, remedy: string): void {
  execFileSync("sh", ["-c", remedy]);
}

function localServers(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `server.${i + 1}=127.0.0.1:${2888 + i}:${3888 + i}`);
}

function certificate({ folder }: SetupPlace, days: number): string {
  const file = join(folder, "server.pem");
  const key = join(folder, "server.key");
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=server", "-days", String(days), "-keyout", key, "-out", file];
  execFileSync("openssl", ["req", "-x509", ...curve, ...names], { stdio: "ignore" });
  writeFileSync(file, readFileSync(file, "utf8") + readFileSync(key, "utf8"));
  chmodSync(file, 0o600);
  return file;
}

/** Changes the lines of a configuration. */
export function write(zooCfg: string, change: (lines: readonly string[]) => readonly string[]): void {
  const lines = readFileSync(zooCfg, "utf8").trimEnd().split("\n");
  writeFileSync(zooCfg, `${change(lines).join("\n")}\n`);
}
