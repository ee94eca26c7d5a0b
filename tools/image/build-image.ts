import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempDisposableSync,
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
}

/** Builds the image from what is packed, and returns its size in bytes. */
export async function buildImage({ tag, base }: BuildOptions): Promise<number> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "image-"));
  const context = temporary.path;
  await run("npm", ["run", "build"], ROOT);
  await installApps(join(context, "app"));
  cpSync(join(ROOT, "image/bin"), join(context, "bin"), { recursive: true });
  for (const file of globSync("bin/*", { cwd: context })) chmodSync(join(context, file), 0o755);
  const kind = [...LIMITS, "--isolation", "chroot", "--format", "docker", "--tag", tag];
  const from = [
    "--build-arg",
    `BASE=${base ?? (await debianBase())}`,
    "--build-arg",
    `VERSION=${versionOfServer()}`,
    "--file",
    join(ROOT, "image/Containerfile"),
  ];
  await podman("build", ...kind, ...from, context);
  return Number(await podman("image", "inspect", "--format", "{{.Size}}", tag));
}

function versionOfServer(): string {
  return publicPackages().find(({ manifest }) => manifest.name === "zooid-server")?.manifest.version ?? "unknown";
}

/** Installs the packed applications as users do, without what never runs. */
async function installApps(directory: string): Promise<void> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "image-packages-"));
  const folder = temporary.path;
  const tarballs = await pack(publicPackages(), folder);
  await using registry = await serveTarballs(tarballs);
  const consumer = new Consumer({ directory, nodeBinary: process.execPath, registryUrl: registry.url });
  await consumer.install(tarballs.filter(({ manifest }) => APPS.includes(manifest.name)).map(({ file }) => file));
  for (const file of [".npmrc", "package-lock.json"]) rmSync(join(directory, file), { force: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true }));
  const modules = join(directory, "node_modules");
  const binding = `linux-${process.arch}.node`;
  for (const path of globSync([...NEEDLESS, "better-sqlite3/prebuilds/*.node"], { cwd: modules }))
    if (!path.endsWith(`/${binding}`)) rmSync(join(modules, path), { recursive: true, force: true });
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
