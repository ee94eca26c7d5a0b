/** Certificates for the servers of an ensemble, made by the `openssl` command. */
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"] as const;
const DAYS = "3650";

export class Authority {
  readonly #folder: string;
  readonly #name: string;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
    const subject = ["-subj", `/CN=${name}`, "-addext", "keyUsage=critical,keyCertSign,cRLSign"];
    openssl([
      "req",
      "-x509",
      ...CURVE,
      ...subject,
      "-days",
      DAYS,
      "-keyout",
      this.#file("key"),
      "-out",
      this.certificate,
    ]);
  }

  /** A PEM file. */
  get certificate(): string {
    return this.#file("pem");
  }

  /**
   * A PEM file with a key and a certificate.
   *
   * @param names alternative names, such as `DNS:zk-1`
   */
  issue(file: string, names: readonly string[]): void {
    const [request, key, extensions] = [`${file}.csr`, `${file}.key`, `${file}.ext`];
    openssl(["req", "-new", ...CURVE, "-subj", "/CN=server", "-keyout", key, "-out", request]);
    writeFileSync(extensions, `subjectAltName=${names.join()}\nextendedKeyUsage=serverAuth,clientAuth\n`);
    const by = ["-CA", this.certificate, "-CAkey", this.#file("key"), "-CAcreateserial"];
    openssl(["x509", "-req", "-in", request, ...by, "-days", DAYS, "-extfile", extensions, "-out", `${file}.crt`]);
    writeFileSync(file, readFileSync(key, "utf8") + readFileSync(`${file}.crt`, "utf8"));
    chmodSync(file, 0o600);
  }

  #file(ending: string): string {
    return join(this.#folder, `${this.#name}.${ending}`);
  }
}

function openssl(args: readonly string[]): void {
  execFileSync("openssl", [...args], { stdio: ["ignore", "ignore", "pipe"] });
}
