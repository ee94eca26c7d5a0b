/**
 * The Helm chart on Kubernetes itself: installed, rolled, evicted, grown and shrunk, given a
 * template that cannot start, and other certificates, while clients write.
 *
 *     npm run tool -- kubernetes [--rounds 1] [--image localhost/zooid:latest] [--gap-ms 3000]
 *
 * In each act a client with a session and an ephemeral node writes: no answered write is missing,
 * its session continues, and it never waits longer for an answer than --gap-ms. Kubernetes is built
 * from its sources, kept in .cache; the rest is Debian's (etcd-server, containerd, runc,
 * containernetworking-plugins, podman). Needs root, and an image that `npm run tool -- image build`
 * made.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { Cluster } from "./cluster.ts";
import { installComponents } from "./components.ts";

const options = toolOptions({ rounds: 1, image: "localhost/zooid:latest", "gap-ms": 3000 });
const CHART = join(ROOT, "deploy/helm/zooid");
const CLIENT = join(import.meta.dirname, "writing-client.ts");
const [, appVersion = ""] = /^appVersion: (.*)$/m.exec(readFileSync(join(CHART, "Chart.yaml"), "utf8")) ?? [];
const NAME = "zk-zooid";
const SET = `statefulset/${NAME}`;
const TIMEOUT = ["--wait", "--timeout", "180s"];
/** Time for which a client writes before and after an act. */
const QUIET_MS = 2000;

using folder = mkdtempDisposableSync(join(tmpdir(), "kubernetes-trial-"));
const archive = join(folder.path, "zooid.tar");
execFileSync("podman", ["tag", options.image, `localhost/zooid:${appVersion}`], { stdio: "ignore" });
execFileSync("podman", ["save", "-o", archive, `localhost/zooid:${appVersion}`], { stdio: "ignore" });
const faults: string[] = [];
await using cluster = await Cluster.start(installComponents(), [archive]);

for (let round = 0; round < options.rounds; round++) {
  await ofThree();
  await ofOne();
  await withTls();
}
for (const fault of faults) console.log(fault);
console.log(faults.length === 0 ? "no answered write and no session was lost" : "FAILED");
process.exitCode = faults.length === 0 ? 0 : 1;

async function ofThree(): Promise<void> {
  await cluster.freshNamespace("zk", 5);
  await timed("an installation of three", () => helm("install", "storage.className=manual"));
  await act("a rolling restart", 3, async () => {
    await cluster.kubectl("-n", "zk", "rollout", "restart", SET);
    await cluster.kubectl("-n", "zk", "rollout", "status", SET, "--timeout=180s");
  });
  await act("evictions", 3, async () => {
    expect("the first eviction is taken", evict(0).status === 0);
    const second = evict(1);
    expect("the second eviction is refused", second.text.includes("disruption budget"), second.text);
    await cluster.until("the pod to be back", () => pods().split("1/1").length === 4);
  });
  await act("three to five", 3, () => helm("upgrade", "voters=5"));
  await expectVoters("1 2 3 4 5");
  await act("five to three", 3, () => helm("upgrade", "voters=3"));
  await expectVoters("1 2 3");
  await act("a template with which a pod cannot start", 3, async () => {
    await helm("upgrade", "config.tickTime=never", false);
    await cluster.until("a pod that fails", () => pods().includes("CrashLoopBackOff"));
    expect("one pod alone has it", pods().split("CrashLoopBackOff").length === 2, pods());
    await helm("upgrade", "config.tickTime=2000");
  });
  await helm("upgrade", "config.tickTime=never", false);
  await cluster.kubectl("-n", "zk", "delete", "pod", `${NAME}-0`, `${NAME}-1`, "--wait=false");
  await cluster.until("a majority that fails", () => pods().split("CrashLoopBackOff").length > 2);
  await timed("a majority is healed", async () => {
    await helm("upgrade", "config.tickTime=2000", false);
    await cluster.kubectl("-n", "zk", "delete", "pods", "-l", "app.kubernetes.io/name=zooid", "--wait=false");
    await delay(1000);
    await cluster.kubectl("-n", "zk", "rollout", "status", SET, "--timeout=180s");
  });
  const doctor = cluster.try("kubectl", [
    "-n",
    "zk",
    "exec",
    `${NAME}-0`,
    "--",
    "zkCli.sh",
    "-server",
    "127.0.0.1:2181",
    "doctor",
  ]);
  expect("the doctor finds nothing", doctor.text.includes("nothing found"), doctor.text);
}

async function ofOne(): Promise<void> {
  await cluster.freshNamespace("zk", 3);
  await helm("install", "storage.className=manual,voters=1,founders=1");
  await act("one to three", 1, () => helm("upgrade", "voters=3"));
  await expectVoters("1 2 3");
  const refused = cluster.try("helm", ["upgrade", "zk", CHART, "-n", "zk", "--reuse-values", "--set", "founders=3"]);
  expect("other founders are refused", refused.status !== 0 && refused.text.includes("never changes"), refused.text);
}

async function withTls(): Promise<void> {
  await cluster.freshNamespace("zk", 3);
  putSecret("first");
  const secrets = "tls.client.existingSecret=tls,tls.quorum.existingSecret=tls";
  await helm("install", `storage.className=manual,${secrets}`);
  await expectVoters("1 2 3");
  expect("the first certificate is shown", (await shownName()) === "first");
  await act("another certificate", 3, async () => {
    putSecret("second");
    // The kubelet looks about once a minute.
    const endMs = performance.now() + 180_000;
    while ((await shownName()) !== "second" && performance.now() < endMs) await delay(1000);
    expect("the second certificate is shown", (await shownName()) === "second");
  });
}

async function helm(verb: "install" | "upgrade", values: string, waits = true): Promise<void> {
  const kept = verb === "install" ? [] : ["--reuse-values"];
  // Without hooks it ends at once.
  const how = waits ? TIMEOUT : ["--no-hooks"];
  await cluster.helm(verb, "zk", CHART, "-n", "zk", ...kept, "--set", values, ...how);
}

/** Carries out an act while a client of the first pods writes. */
async function act(what: string, pods: number, carryOut: () => Promise<void>): Promise<void> {
  const hosts = Array.from(
    { length: pods },
    (_, i) => `${NAME}-${i}.${NAME}-headless.zk.svc.cluster.local:2181`,
  ).join();
  const node = `cd ${ROOT} && exec node ${process.execArgv.join(" ")} ${CLIENT} ${hosts}`;
  const child = spawn(...cluster.withNames(node), { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout?.on("data", (piece) => (said += String(piece)));
  const ended = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  await cluster.until("the client", () => said.includes("writes\n") || child.exitCode !== null);
  await delay(QUIET_MS);
  const startMs = performance.now();
  await carryOut();
  const ms = performance.now() - startMs;
  await delay(QUIET_MS);
  child.stdin?.end();
  await ended;
  const report = said.split("\n").find((line) => line.startsWith("{")) ?? "";
  console.log(`${what}: ${(ms / 1000).toFixed(1)} s; ${report}`);
  if (child.exitCode !== 0) faults.push(`${what}: ${said}`);
  const gapMs = Number(/"longestGapMs":(\d+)/.exec(report)?.[1]);
  if (gapMs > options["gap-ms"]) faults.push(`${what}: no answer for ${gapMs} ms`);
}

async function timed(what: string, carryOut: () => Promise<void>): Promise<void> {
  const startMs = performance.now();
  await carryOut();
  console.log(`${what}: ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
}

function expect(what: string, isSo: boolean, text = ""): void {
  if (!isSo) faults.push(`expected that ${what}; found: ${text}`);
}

async function expectVoters(ids: string): Promise<void> {
  const text = await cluster.kubectl(
    "-n",
    "zk",
    "exec",
    `${NAME}-0`,
    "--",
    "zkCli.sh",
    "-server",
    "127.0.0.1:2181",
    "config",
  );
  const found = [...text.matchAll(/^server\.(\d+)=.*:participant;/gm)].map(([, id]) => id).join(" ");
  console.log(`voters: ${found}`);
  expect(`the voters are ${ids}`, found === ids, text);
}

function pods(): string {
  return cluster.try("kubectl", ["-n", "zk", "get", "pods"]).text;
}

function evict(ordinal: number): { readonly status: number; readonly text: string } {
  const name = `${NAME}-${ordinal}`;
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "zk" } };
  const path = `/api/v1/namespaces/zk/pods/${name}/eviction`;
  return cluster.try("kubectl", ["create", "-f", "-", "--raw", path], JSON.stringify(eviction));
}

/** A secret as cert-manager makes it, whose certificate has a name. */
function putSecret(name: string): void {
  const openssl = (...args: readonly string[]): void => {
    execFileSync("openssl", args, { cwd: folder.path, stdio: "ignore" });
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  if (name === "first")
    openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "100", "-subj", "/CN=ca");
  openssl(
    "req",
    ...key,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.csr`,
    "-subj",
    `/CN=${name}`,
    "-addext",
    `subjectAltName=DNS:*.${NAME}-headless.zk.svc.cluster.local`,
  );
  openssl(
    "x509",
    "-req",
    "-in",
    `${name}.csr`,
    "-CA",
    "ca.crt",
    "-CAkey",
    "ca.key",
    "-CAcreateserial",
    "-days",
    "90",
    "-copy_extensions",
    "copy",
    "-out",
    `${name}.crt`,
  );
  const dataOf = (file: string): string => readFileSync(join(folder.path, file)).toString("base64");
  const data = { "tls.key": dataOf(`${name}.key`), "tls.crt": dataOf(`${name}.crt`), "ca.crt": dataOf("ca.crt") };
  const metadata = { name: "tls", namespace: "zk" };
  cluster.apply(JSON.stringify({ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata, data }));
}

/** The name in the certificate that the first pod shows to clients. */
async function shownName(): Promise<string> {
  const host = cluster.try("kubectl", ["-n", "zk", "get", "pod", `${NAME}-0`, "-o", "jsonpath={.status.podIP}"]).text;
  const file = (name: string): Buffer => readFileSync(join(folder.path, name));
  const socket = connectTls({
    host,
    port: 2281,
    ca: file("ca.crt"),
    cert: file("first.crt"),
    key: file("first.key"),
    checkServerIdentity: () => undefined,
  });
  return await new Promise((resolve) => {
    socket.once("secureConnect", () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once("error", (error) => resolve(error.message));
  });
}
