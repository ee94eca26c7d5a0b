import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@zooid/wire/testing/free-ports";

export const REALM = "ZOOID.TEST";
const START_DEADLINE_MS = 20_000;
const POLL_MS = 50;

/** MIT's key distribution center with its own realm, on loopback; its files are in one folder. */
export class KerberosRealm implements AsyncDisposable {
  readonly folder: string;
  readonly #process: ChildProcess;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(folder: string, process: ChildProcess, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.#process = process;
    this.#env = env;
  }

  static async start(): Promise<KerberosRealm> {
    const folder = mkdtempSync(join(tmpdir(), "conformance-kerberos-"));
    const port = await freePort();
    const profile = join(folder, "kdc.conf");
    writeFileSync(join(folder, "krb5.conf"), krb5Conf(port));
    writeFileSync(profile, kdcConf(folder, port));
    const env = {
      ...process.env,
      PATH: `${process.env["PATH"] ?? ""}:/usr/sbin`,
      KRB5_CONFIG: join(folder, "krb5.conf"),
      KRB5_KDC_PROFILE: profile,
    };
    execFileSync("kdb5_util", ["create", "-s", "-r", REALM, "-P", "master"], { env, stdio: "ignore" });
    const kdc = spawn("krb5kdc", ["-n", "-r", REALM], { env, stdio: "ignore" });
    const realm = new KerberosRealm(folder, kdc, env);
    try {
      await untilListening(port, kdc);
      return realm;
    } catch (error) {
      await realm[Symbol.asyncDispose]();
      throw error;
    }
  }

  get krb5Conf(): string {
    return join(this.folder, "krb5.conf");
  }

  /** Adds a principal with a random key. @returns its keytab */
  add(principal: string, keyTab: string): string {
    const file = join(this.folder, keyTab);
    this.#admin(`addprinc -randkey ${principal}`);
    this.#admin(`ktadd -k ${file} ${principal}`);
    return file;
  }

  /** Gives a principal another key, so that its keytab is out of date. */
  changeKey(principal: string): void {
    this.#admin(`change_password -randkey ${principal}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, "close");
      this.#process.kill("SIGKILL");
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #admin(query: string): void {
    execFileSync("kadmin.local", ["-r", REALM, "-q", query], { env: this.#env, stdio: "ignore" });
  }
}

async function untilListening(port: number, kdc: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + START_DEADLINE_MS;
  while (!(await isListening(port))) {
    if (kdc.exitCode !== null || performance.now() > deadlineMs)
      throw new Error(`krb5kdc does not listen on port ${port}; it ended with ${kdc.exitCode}`);
    await delay(POLL_MS);
  }
}

function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, "127.0.0.1", () => resolve(true));
  socket.once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Java takes TCP for what is longer than the limit. */
function krb5Conf(port: number): string {
  return `[libdefaults]
  default_realm = ${REALM}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  ${REALM} = {
    kdc = 127.0.0.1:${port}
  }
`;
}

function kdcConf(folder: string, port: number): string {
  return `[kdcdefaults]
  kdc_listen = 127.0.0.1:${port}
  kdc_tcp_listen = 127.0.0.1:${port}
[realms]
  ${REALM} = {
    database_name = ${join(folder, "principal")}
    key_stash_file = ${join(folder, "stash")}
    acl_file = ${join(folder, "kadm5.acl")}
    supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
  }
`;
}
