import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePorts } from "@zooid/wire/testing/free-ports";
import type { Component } from "./components.ts";

const BRIDGE = "zooid-k8s";
const ADDRESS = "10.200.0.1";
const PODS = "10.200.0.0/24";
const SERVICES = "10.201.0.0/24";
const USER = 1000;
const WAIT_MS = 60_000;
const POLL_MS = 200;
const PAUSE = `#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void end(int signal) { exit(0); }
static void reap(int signal) { while (waitpid(-1, 0, WNOHANG) > 0); }
int main(void) { signal(SIGINT, end); signal(SIGTERM, end); signal(SIGCHLD, reap); for (;;) pause(); }
`;

export interface Run {
  readonly status: number;
  readonly text: string;
}

/**
 * A cluster of one node in this machine: etcd, containerd, runc and the plugins for networks are
 * Debian's, Kubernetes and CoreDNS are built from their sources. Pods have addresses on a bridge,
 * and names; there are no addresses of services.
 */
export class Cluster implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "kubernetes-"));
  readonly #program: (component: Component) => string;
  readonly #processes: ChildProcess[] = [];
  readonly #kubeconfig = join(this.#folder, "kubeconfig");
  readonly #socket = join(this.#folder, "containerd.sock");

  private constructor(program: (component: Component) => string) {
    this.#program = program;
  }

  /** @param images archives of images that pods run */
  static async start(program: (component: Component) => string, images: readonly string[]): Promise<Cluster> {
    const cluster = new Cluster(program);
    try {
      await cluster.#start(images);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @throws Error with its output if it fails */
  async kubectl(...args: readonly string[]): Promise<string> {
    return await this.#command("kubectl", args);
  }

  async helm(...args: readonly string[]): Promise<string> {
    return await this.#command("helm", args);
  }

  /** Its status and both streams. */
  try(component: "helm" | "kubectl", args: readonly string[], input?: string): Run {
    const { status, stdout, stderr } = spawnSync(this.#program(component), args, {
      env: this.#env,
      encoding: "utf8",
      ...(input === undefined ? {} : { input }),
    });
    return { status: status ?? 1, text: stdout + stderr };
  }

  apply(resources: string): void {
    const { status, text } = this.try("kubectl", ["apply", "-f", "-"], resources);
    if (status !== 0) throw new Error(text);
  }

  /** Empties a namespace, and gives it volumes that the pods' user owns, as many as wanted. */
  async freshNamespace(name: string, volumes: number): Promise<void> {
    this.try("kubectl", ["delete", "namespace", name, "--ignore-not-found"]);
    this.try("kubectl", ["delete", "persistentvolume", "--all"]);
    rmSync(join(this.#folder, "volumes"), { recursive: true, force: true });
    await this.kubectl("create", "namespace", name);
    for (let i = 0; i < volumes; i++) {
      const path = join(this.#folder, `volumes/${i}`);
      mkdirSync(path, { recursive: true });
      chownSync(path, USER, USER);
      const spec = {
        capacity: { storage: "10Gi" },
        accessModes: ["ReadWriteOnce"],
        storageClassName: "manual",
        persistentVolumeReclaimPolicy: "Retain",
        hostPath: { path },
      };
      this.apply(JSON.stringify({ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: `v${i}` }, spec }));
    }
  }

  /** A command that resolves the names of pods. */
  withNames(command: string): readonly [program: string, args: readonly string[]] {
    return [
      "unshare",
      ["--mount", "sh", "-c", `mount --bind ${join(this.#folder, "resolv.conf")} /etc/resolv.conf && ${command}`],
    ];
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const endMs = performance.now() + WAIT_MS;
    while (!(await isSo())) {
      if (performance.now() > endMs) throw new Error(`waited ${WAIT_MS} ms for ${what}; logs are in ${this.#folder}`);
      await delay(POLL_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The kubelet and the API server end first, so that nothing restarts the others.
    for (const child of this.#processes.toReversed().filter(({ spawnfile }) => !/containerd$/.test(spawnfile)))
      await end(child);
    const ctr = ["-a", this.#socket, "-n", "k8s.io", "tasks"];
    const { stdout = "" } = spawnSync("ctr", [...ctr, "ls", "-q"], { encoding: "utf8" });
    for (const id of stdout.split("\n").filter(Boolean)) spawnSync("ctr", [...ctr, "kill", "-s", "KILL", id]);
    await delay(1000);
    for (const child of this.#processes) await end(child);
    const mounts = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "")
      .filter((path) => path.startsWith(this.#folder));
    for (const path of mounts.sort().toReversed()) spawnSync("umount", ["-l", path]);
    spawnSync("ip", ["link", "delete", BRIDGE]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, KUBECONFIG: this.#kubeconfig };
  }

  async #command(component: "helm" | "kubectl", args: readonly string[]): Promise<string> {
    const child = spawn(this.#program(component), args, { env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (text += String(piece)));
    const [status] = await once(child, "close");
    if (status !== 0) throw new Error(`${component} ${args.join(" ")}: ${text}`);
    return text;
  }

  #spawn(name: string, program: string, args: readonly string[]): void {
    const output = openSync(join(this.#folder, `${name}.log`), "a");
    this.#processes.push(spawn(program, args, { stdio: ["ignore", output, output], env: this.#env }));
    closeSync(output);
  }

  #write(name: string, text: string): string {
    const file = join(this.#folder, name);
    writeFileSync(file, text);
    return file;
  }

  async #start(images: readonly string[]): Promise<void> {
    const [etcd = 0, etcdPeer = 0, api = 0, manager = 0, scheduler = 0] = await freePorts(5);
    execFileSync("ip", ["link", "add", BRIDGE, "type", "bridge"]);
    execFileSync("ip", ["address", "add", `${ADDRESS}/24`, "dev", BRIDGE]);
    execFileSync("ip", ["link", "set", BRIDGE, "up"]);
    const signing = this.#write(
      "signing.key",
      execFileSync("openssl", ["genrsa", "2048"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    );
    const url = `http://127.0.0.1:${etcd}`;
    const peer = `http://127.0.0.1:${etcdPeer}`;
    this.#spawn("etcd", "etcd", [
      ...["--data-dir", join(this.#folder, "etcd"), "--unsafe-no-fsync", "--initial-cluster", `default=${peer}`],
      ...["--listen-client-urls", url, "--advertise-client-urls", url],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
    ]);
    const tokens = this.#write("tokens.csv", 'of-a-trial,admin,1,"system:masters"\n');
    this.#write("kubeconfig", kubeconfig(api));
    this.#spawn("apiserver", this.#program("kube-apiserver"), [
      ...[
        `--etcd-servers=${url}`,
        `--secure-port=${api}`,
        `--advertise-address=${ADDRESS}`,
        `--token-auth-file=${tokens}`,
      ],
      ...[
        `--cert-dir=${join(this.#folder, "pki")}`,
        `--service-cluster-ip-range=${SERVICES}`,
        "--authorization-mode=RBAC",
      ],
      ...["--service-account-issuer=https://kubernetes.default.svc", `--service-account-signing-key-file=${signing}`],
      ...[`--service-account-key-file=${signing}`, "--kubelet-preferred-address-types=InternalIP"],
    ]);
    await this.until("the API", () => this.try("kubectl", ["get", "--raw", "/readyz"]).status === 0);
    const asAdmin = ["", "authentication-", "authorization-"].map((word) => `--${word}kubeconfig=${this.#kubeconfig}`);
    this.#spawn("controller-manager", this.#program("kube-controller-manager"), [
      ...[...asAdmin, "--leader-elect=false", `--secure-port=${manager}`],
      ...[`--service-account-private-key-file=${signing}`, `--root-ca-file=${join(this.#folder, "pki/apiserver.crt")}`],
    ]);
    this.#spawn("scheduler", this.#program("kube-scheduler"), [
      ...asAdmin,
      "--leader-elect=false",
      `--secure-port=${scheduler}`,
    ]);
    await this.#startContainers(images);
    const config = this.#write("kubelet.json", JSON.stringify(kubeletOf(this.#socket)));
    this.#spawn("kubelet", this.#program("kubelet"), [
      ...[`--config=${config}`, `--kubeconfig=${this.#kubeconfig}`, `--root-dir=${join(this.#folder, "kubelet")}`],
      ...[`--cert-dir=${join(this.#folder, "kubelet-pki")}`, `--node-ip=${ADDRESS}`, "--hostname-override=node"],
    ]);
    const corefile = this.#write(
      "Corefile",
      `.:53 {\n  bind ${ADDRESS}\n  kubernetes cluster.local {\n    kubeconfig ${this.#kubeconfig} trial\n    ttl 2\n  }\n}\n`,
    );
    this.#spawn("coredns", this.#program("coredns"), ["-conf", corefile]);
    this.#write("resolv.conf", `nameserver ${ADDRESS}\n`);
    await this.until("the node", () => this.try("kubectl", ["get", "node", "node"]).text.includes(" Ready"));
  }

  async #startContainers(images: readonly string[]): Promise<void> {
    for (const name of ["cni", "pause"]) mkdirSync(join(this.#folder, name));
    const range = { subnet: PODS, rangeStart: ADDRESS.replace(/1$/, "20"), gateway: ADDRESS };
    const ipam = {
      type: "host-local",
      ranges: [[range]],
      routes: [{ dst: "0.0.0.0/0" }],
      dataDir: join(this.#folder, "ipam"),
    };
    const bridge = { type: "bridge", bridge: BRIDGE, hairpinMode: true, ipam };
    this.#write("cni/10-bridge.conflist", JSON.stringify({ cniVersion: "0.4.0", name: "zooid", plugins: [bridge] }));
    const cri = '[plugins."io.containerd.grpc.v1.cri"';
    const config = this.#write(
      "containerd.toml",
      `version = 2
root = "${this.#folder}/containerd-root"
state = "${this.#folder}/containerd-state"
[grpc]
  address = "${this.#socket}"
${cri}]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
${cri}.cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "${this.#folder}/cni"
${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
`,
    );
    this.#spawn("containerd", "containerd", ["-c", config]);
    await this.until("containerd", () => spawnSync("ctr", ["-a", this.#socket, "version"]).status === 0);
    for (const image of [this.#pauseImage(), ...images])
      execFileSync("ctr", ["-a", this.#socket, "-n", "k8s.io", "images", "import", image], { stdio: "ignore" });
  }

  /** The image that keeps a pod's namespaces. */
  #pauseImage(): string {
    const folder = join(this.#folder, "pause");
    writeFileSync(join(folder, "pause.c"), PAUSE);
    execFileSync("gcc", ["-static", "-Os", "-s", "-o", "pause", "pause.c"], { cwd: folder });
    writeFileSync(join(folder, "Containerfile"), 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n');
    const archive = join(folder, "pause.tar");
    const quiet = { stdio: "ignore" as const };
    execFileSync(
      "podman",
      ["--runtime", "runc", "build", "--isolation", "chroot", "-t", "localhost/pause:1", folder],
      quiet,
    );
    execFileSync("podman", ["save", "-o", archive, "localhost/pause:1"], quiet);
    return archive;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
  await ended;
  clearTimeout(timer);
}

function kubeconfig(port: number): string {
  const cluster = { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "trial", cluster }],
    users: [{ name: "trial", user: { token: "of-a-trial" } }],
    contexts: [{ name: "trial", context: { cluster: "trial", user: "trial" } }],
    "current-context": "trial",
  });
}

function kubeletOf(socket: string): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    localStorageCapacityIsolation: false,
    failSwapOn: false,
    failCgroupV1: false,
    clusterDNS: [ADDRESS],
    clusterDomain: "cluster.local",
    containerRuntimeEndpoint: `unix://${socket}`,
    imageGCHighThresholdPercent: 100,
    resolvConf: "/dev/null",
  };
}
