import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { FindingId } from "@zooid/doctor";

/** A server's configuration and machine with one thing wrong, for `zooid-server check`. */
export interface MachineSetup {
  readonly name: string;
  /** What has to be found. */
  readonly id: FindingId;
  /** Lines of zoo.cfg instead of the sound ones of the same key. */
  readonly settings?: readonly string[];
  /** Before the check; it may add lines. */
  prepare?(place: SetupPlace): readonly string[];
  /** Does what the finding's remedy says, so that it is found no more. Missing: correct zoo.cfg. */
  remedy?(place: SetupPlace, remedy: string): void | Promise<void>;
  /** A command of the shell that the check runs behind, in name spaces of its own. */
  readonly shell?: (place: SetupPlace) => string;
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
}

const TRUSTED = "zooid.allowUnauthenticatedPeers=true";

export const MACHINE_SETUPS: readonly MachineSetup[] = [
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
