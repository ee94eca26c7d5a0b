import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "@zooid/trials/internal/processes/run";
import { Consumer } from "../pack/consumer.ts";
import { publicPackages, ROOT } from "../pack/public-packages.ts";
import { pack } from "../pack/tarball.ts";
import { serveTarballs } from "../pack/tarball-registry.ts";
import { LIMITS, podman } from "./podman.ts";

/** In the image's folder of the applications. */
const BILL = "sbom.cdx.json";
const SUITE = "bookworm";
/** Beside those of Debian's smallest installation. */
const PACKAGES = "busybox,ca-certificates";
const CACHE = join(ROOT, ".cache/image");
const APPS: readonly string[] = ["zooid-server", "zooid-cli"];
/** Sources of SQLite and declarations of types: nothing that runs. */
const NEEDLESS = [
  ...["better-sqlite3/{deps,src}", "node-addon-api", ".package-lock.json", "**/*.d.ts", "**/*.{map,mts,cts}"],
  ...["**/{test,tests,docs,example,examples}/", "node-forge/{dist,flash}"],
];

export interface BuildOptions {
  readonly tag: string;
  /** An image with Node.js; undefined: one is made here from Debian's packages and this Node.js. */
  readonly base: string | undefined;
  /** Uses layers of an earlier build. Default true. */
  readonly isCached?: boolean;
}

/**
 * Builds the image from what is packed, and returns its size in bytes. Two builds of one commit on
 * one base are equal: files and image have the time of the commit.
 */
export async function buildImage({ tag, base, isCached = true }: BuildOptions): Promise<number> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "image-"));
  const context = temporary.path;
  const { revision, seconds } = await commitOf(ROOT);
  await run("npm", ["run", "build"], ROOT, { ...process.env, SOURCE_DATE_EPOCH: seconds });
  await installApps(join(context, "app"));
  cpSync(join(ROOT, "image/bin"), join(context, "bin"), { recursive: true });
  for (const file of globSync("bin/*", { cwd: context })) chmodSync(join(context, file), 0o755);
  const kind = [...LIMITS, "--isolation", "chroot", "--format", "docker", "--tag", tag, "--timestamp", seconds];
  if (!isCached) kind.push("--no-cache");
  const from = [
    "--build-arg",
    `BASE=${base ?? (await debianBase())}`,
    "--build-arg",
    `VERSION=${versionOfServer()}`,
    "--build-arg",
    `REVISION=${revision}`,
    "--file",
    join(ROOT, "image/Containerfile"),
  ];
  await podman("build", ...kind, ...from, context);
  return Number(await podman("image", "inspect", "--format", "{{.Size}}", tag));
}

/** A copy without a history has none. */
async function commitOf(root: string): Promise<{ readonly revision: string; readonly seconds: string }> {
  try {
    const { stdout } = await run("git", ["log", "-1", "--format=%H %ct"], root);
    const [revision = "unknown", seconds = "0"] = stdout.trim().split(" ");
    return { revision, seconds };
  } catch {
    return { revision: "unknown", seconds: "0" };
  }
}

export function versionOfServer(): string {
  return publicPackages().find(({ manifest }) => manifest.name === "zooid-server")?.manifest.version ?? "unknown";
}

/** Installs the packed applications as users do, without what never runs. */
export async function installApps(directory: string): Promise<void> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "image-packages-"));
  const folder = temporary.path;
  const tarballs = await pack(publicPackages(), folder);
  await using registry = await serveTarballs(tarballs);
  const consumer = new Consumer({ directory, nodeBinary: process.execPath, registryUrl: registry.url });
  await consumer.install(tarballs.filter(({ manifest }) => APPS.includes(manifest.name)).map(({ file }) => file));
  await writeBill(directory);
  for (const file of [".npmrc", "package-lock.json"]) rmSync(join(directory, file), { force: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true }));
  const modules = join(directory, "node_modules");
  const binding = `linux-${process.arch}.node`;
  for (const path of globSync([...NEEDLESS, "better-sqlite3/prebuilds/*.node"], { cwd: modules }))
    if (!path.endsWith(`/${binding}`)) rmSync(join(modules, path), { recursive: true, force: true });
}

/**
 * Writes what the image contains, in CycloneDX's form, without what differs from build to build: a
 * number, a time, and the folders that packages came from.
 */
async function writeBill(directory: string): Promise<void> {
  const manifest = join(directory, "package.json");
  // A bill is of a version.
  const own = { ...JSON.parse(readFileSync(manifest, "utf8")), name: "zooid", version: versionOfServer() };
  writeFileSync(manifest, JSON.stringify(own));
  const { stdout } = await run("npm", ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"], directory);
  const { serialNumber: _, ...bill } = JSON.parse(stdout);
  delete bill.metadata.timestamp;
  bill.metadata.component = { type: "container", name: "zooid", version: versionOfServer() };
  for (const component of bill.components) delete component.externalReferences;
  bill.components.push({ type: "platform", name: "node", version: process.versions.node });
  writeFileSync(join(directory, BILL), `${JSON.stringify(bill, null, 2)}\n`);
}

/**
 * Debian's smallest installation and the Node.js that runs this: for machines without a registry of
 * images.
 */
async function debianBase(): Promise<string> {
  const name = `localhost/zooid-base:${SUITE}-node-${process.versions.node}-busybox`;
  try {
    await podman("image", "exists", name);
    return name;
  } catch {
    // It is made now.
  }
  const root = join(CACHE, SUITE);
  if (!existsSync(join(root, "usr/bin/dpkg")) || !existsSync(join(root, "bin/busybox"))) {
    mkdirSync(CACHE, { recursive: true });
    rmSync(root, { recursive: true, force: true });
    await run("debootstrap", ["--variant=minbase", `--include=${PACKAGES}`, SUITE, root], CACHE);
  }
  const needless = ["usr/share/{doc,man,locale,info}/*", "var/cache/apt/*", "var/lib/apt/lists/*", "var/log/*"];
  for (const path of globSync(needless, { cwd: root })) rmSync(join(root, path), { recursive: true, force: true });
  copyFileSync(process.execPath, join(root, "usr/local/bin/node"));
  chmodSync(join(root, "usr/local/bin/node"), 0o755);
  const archive = join(CACHE, "base.tar");
  await run("tar", ["--numeric-owner", "-C", root, "-cf", archive, "."], CACHE);
  await podman(
    "import",
    "--change",
    "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    archive,
    name,
  );
  rmSync(archive);
  return name;
}
