import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { run } from "@zooid/trials/internal/processes/run";
import { installApps, versionOfServer } from "../image/build-image.ts";
import { ROOT } from "../pack/public-packages.ts";

const SOURCES = join(ROOT, "packaging/debian");
const SCRIPTS = ["preinst", "postinst", "prerm", "postrm"] as const;
const CONFIGURATION = ["/etc/zooid/zoo.cfg", "/etc/default/zooid"] as const;
const PROGRAMS = ["zooid-server", "zooid-cli"] as const;
const PAGES = ["operations.md", "settings.md", "security.md", "disaster.md", "findings.md", "log-events.md"] as const;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
const BUILD_MS_MAX = 600_000;

export interface PackageOptions {
  /** Where the package is written. */
  readonly folder: string;
  /** Another version than the server's, for a test of an upgrade. */
  readonly version?: string;
}

/** Builds a Debian package with the Node.js that runs this. @returns its file */
export async function buildPackage({ folder, version = versionOfServer() }: PackageOptions): Promise<string> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "debian-"));
  const root = join(temporary.path, "root");
  const home = `/usr/lib/zooid/${version}`;
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const put = (path: string, text: string, mode = 0o644): void => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text.replaceAll("@VERSION@", version).replaceAll("@ARCHITECTURE@", architecture));
    chmodSync(file, mode);
  };
  const source = (name: string): string => readFileSync(join(SOURCES, name), "utf8");
  await installApps(join(root, home, "app"));
  copyFileSync(process.execPath, join(root, home, "node"));
  chmodSync(join(root, home, "node"), 0o755);
  for (const name of PROGRAMS)
    put(
      `/usr/bin/${name}`,
      `#!/bin/sh\nexec ${home}/node ${home}/app/node_modules/${name}/bin/${name}.cjs "$@"\n`,
      0o755,
    );
  put("/usr/lib/zooid/remove-earlier", source("remove-earlier"), 0o755);
  put("/usr/lib/systemd/system/zooid.service", source("zooid.service"));
  put("/etc/zooid/zoo.cfg", source("zoo.cfg"));
  put("/etc/default/zooid", source("default"));
  const documents = join(root, "usr/share/doc/zooid");
  mkdirSync(documents, { recursive: true });
  for (const page of PAGES) copyFileSync(join(ROOT, "docs", page), join(documents, page));
  copyFileSync(join(ROOT, "LICENSE"), join(documents, "copyright"));
  writeFileSync(join(documents, "changelog.gz"), gzipSync(readFileSync(join(ROOT, "CHANGELOG.md"))));
  const kibibytes = await sizeOf(root);
  put("/DEBIAN/control", source("control").replace("@SIZE@", String(kibibytes)));
  put("/DEBIAN/conffiles", `${CONFIGURATION.join("\n")}\n`);
  for (const script of SCRIPTS) put(`/DEBIAN/${script}`, source(script), 0o755);
  await openModes(root);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `zooid_${version}_${architecture}.deb`);
  rmSync(file, { force: true });
  const options = ["--root-owner-group", "-Zxz", "--build", root, file];
  await run("dpkg-deb", options, ROOT, process.env, BUILD_MS_MAX);
  return file;
}

async function sizeOf(root: string): Promise<number> {
  const { stdout } = await run("du", ["-sk", root], ROOT);
  return Number.parseInt(stdout, 10);
}

/** Everyone may read what is installed, whatever the umask of the build. */
async function openModes(root: string): Promise<void> {
  await run("chmod", ["-R", "u+rwX,go+rX,go-w", root], ROOT);
}

export function mebibytesOf(file: string): number {
  return statSync(file).size / 2 ** 20;
}
