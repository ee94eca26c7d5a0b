import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { run } from "@zooid/trials/internal/processes/run";
import { LIMITS, podman } from "../image/podman.ts";
import { ROOT } from "../pack/public-packages.ts";
import { buildPackage } from "./build-package.ts";

const CACHE = join(ROOT, ".cache/debian-systemd");
const IMAGE = "localhost/zooid-debian-systemd:bookworm";
const PACKAGES = "systemd-sysv,dbus,adduser,ca-certificates,libstdc++6,procps";
const NEXT = "0.1.0+next";
const WAIT_MS = 60_000;
const POLL_MS = 250;
/** As `systemd-analyze security` rates units: 0 is safest, 10 has no bounds. */
const EXPOSURE_MAX = 2.5;

/** A machine with systemd, in which commands are run. */
class Machine implements AsyncDisposable {
  readonly #id: string;

  private constructor(id: string) {
    this.#id = id;
  }

  static async start(packages: string): Promise<Machine> {
    await makeImage();
    const mount = ["--volume", `${packages}:/packages:ro`];
    const id = await podman(
      "run",
      "--detach",
      "--systemd=always",
      "--privileged",
      ...LIMITS,
      ...mount,
      IMAGE,
      "/sbin/init",
    );
    const machine = new Machine(id);
    await machine.until("systemd to run", "systemctl is-system-running | grep -Eq 'running|degraded'");
    return machine;
  }

  /** The output of a shell's command. @throws where it fails */
  async sh(command: string): Promise<string> {
    return await podman("exec", this.#id, "sh", "-c", command);
  }

  /** Its status and what it printed. */
  async try(command: string): Promise<{ readonly status: number; readonly text: string }> {
    const text = await this.sh(`{ ${command}; } 2>&1; echo "status $?"`);
    const end = text.lastIndexOf("status ");
    return { status: Number(text.slice(end + "status ".length)), text: text.slice(0, end) };
  }

  async until(what: string, command: string): Promise<void> {
    const startMs = performance.now();
    for (;;) {
      const { status, text } = await this.try(command);
      if (status === 0) return;
      if (performance.now() - startMs > WAIT_MS)
        throw new Error(
          `waited ${WAIT_MS} ms for ${what}: ${text}\n${(await this.try("journalctl -u zooid --no-pager | tail -30")).text}`,
        );
      await delay(POLL_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await podman("rm", "--force", "--time", "0", this.#id);
  }
}

async function makeImage(): Promise<void> {
  try {
    await podman("image", "exists", IMAGE);
    return;
  } catch {
    // It is made now.
  }
  const root = join(CACHE, "root");
  if (!existsSync(join(root, "sbin/init"))) {
    mkdirSync(CACHE, { recursive: true });
    rmSync(root, { recursive: true, force: true });
    await run(
      "debootstrap",
      ["--variant=minbase", `--include=${PACKAGES}`, "bookworm", root],
      CACHE,
      process.env,
      600_000,
    );
  }
  const archive = join(CACHE, "root.tar");
  await run("tar", ["--numeric-owner", "-C", root, "-cf", archive, "."], CACHE);
  await podman("import", archive, IMAGE);
  rmSync(archive);
}

/** Tries a package; throws where something is not as it should be. */
export async function testPackage(file: string, folder: string): Promise<void> {
  const next = await buildPackage({ folder: join(folder, "next"), version: NEXT });
  await using machine = await Machine.start(folder);
  const mainPid = (): Promise<string> => machine.sh("systemctl show zooid --property MainPID --value");
  const cli = (command: string): Promise<string> => machine.sh(`zooid-cli -server 127.0.0.1:2181 ${command}`);
  const passed = (what: string): void => console.log(what);

  await machine.sh(`dpkg -i /packages/${basename(file)}`);
  assert.equal(
    (await machine.try("systemctl is-active zooid")).text.trim(),
    "inactive",
    "an installation starts nothing",
  );
  await machine.sh("systemctl enable --now zooid");
  assert.equal((await machine.sh("systemctl is-active zooid")).trim(), "active");
  await cli("create /kept before");
  const owner = await machine.sh(
    "stat -c '%U %a' /var/lib/zooid; ps -o user= -p $(systemctl show zooid --property MainPID --value)",
  );
  assert.deepEqual(owner.split(/\s+/).filter(Boolean), ["zooid", "750", "zooid"]);
  passed("installed, started, and serves as the user zooid");

  await machine.sh(
    "sed -i s/^#maxClientCnxns.*// /etc/zooid/zoo.cfg && echo maxClientCnxns=77 >> /etc/zooid/zoo.cfg && systemctl reload zooid",
  );
  await machine.until("the reload", "journalctl -u zooid --no-pager | grep -q 'maxClientCnxns is .*77'");
  passed("reloaded, and said so in the journal");

  const before = await mainPid();
  await machine.sh(`kill -9 ${before}`);
  await machine.until(
    "another process",
    `test "$(systemctl show zooid --property MainPID --value)" != ${before} && systemctl is-active --quiet zooid`,
  );
  assert.match(await cli("get /kept"), /before/);
  passed("killed, and started again with its data");

  await machine.sh("cp /etc/zooid/zoo.cfg /root/zoo.cfg && echo tickTime=never >> /etc/zooid/zoo.cfg");
  assert.notEqual((await machine.try("systemctl restart zooid")).status, 0);
  await machine.until("the failure", "systemctl is-failed --quiet zooid");
  assert.match(await machine.sh("systemctl show zooid --property ExecMainStatus --value"), /^2$/m);
  assert.match(
    await machine.sh("systemctl show zooid --property NRestarts --value"),
    /^0$/m,
    "a wrong configuration is not started again and again",
  );
  await machine.sh("cp /root/zoo.cfg /etc/zooid/zoo.cfg && systemctl reset-failed zooid && systemctl start zooid");
  passed("a wrong configuration ends the start once, with status 2");

  const exposure = await machine.sh("systemd-analyze security zooid --no-pager | tail -1");
  const rate = Number(/[\d.]+/.exec(exposure.slice(exposure.indexOf(":")))?.[0]);
  assert.ok(rate <= EXPOSURE_MAX, exposure);
  passed(`systemd rates the unit ${rate}`);

  const running = await mainPid();
  const part = "/usr/lib/zooid/0.1.0/app/node_modules/zooid-cli/package.json";
  await machine.sh(`rm ${part} && mv /etc/zooid/zoo.cfg /root/kept.cfg && dpkg -i /packages/${basename(file)}`);
  assert.equal(await mainPid(), running, "an installation of the same version restarts nothing");
  await machine.sh(`test -e ${part} && mv /root/kept.cfg /etc/zooid/zoo.cfg`);
  passed("installed again while it served and without its zoo.cfg, which mends its files");

  await machine.sh(`dpkg --force-confold -i /packages/next/${basename(next)}`);
  assert.equal(await mainPid(), running, "an upgrade restarts nothing");
  assert.match(await cli("get /kept"), /before/);
  // Parts that the server loads when they are first asked for.
  await machine.sh("wget -qO- http://127.0.0.1:8080/console/ > /dev/null 2>&1 || true");
  await machine.sh("test -d /usr/lib/zooid/0.1.0/app");
  await machine.sh("systemctl restart zooid");
  assert.match(await cli("get /kept"), /before/);
  assert.equal(
    (await machine.sh("ls /usr/lib/zooid")).split(/\s+/).filter(Boolean).sort().join(" "),
    `${NEXT} remove-earlier`,
  );
  passed("upgraded while it served, and restarted with the next version");

  await machine.sh("dpkg -r zooid");
  assert.notEqual((await machine.try("systemctl is-active --quiet zooid")).status, 0);
  await machine.sh("test -e /etc/zooid/zoo.cfg && test ! -e /usr/lib/zooid");
  const purged = await machine.try("dpkg -P zooid");
  assert.equal(purged.status, 0, purged.text);
  assert.match(purged.text, /the data in \/var\/lib\/zooid are kept/);
  await machine.sh('test -n "$(ls -A /var/lib/zooid)" && test ! -e /etc/zooid');
  await machine.sh(`dpkg -i /packages/next/${basename(next)} && systemctl start zooid`);
  assert.match(await cli("get /kept"), /before/);
  passed("removed and purged, with the data kept, and installed again on them");
}
