import { createRequire } from "node:module";
import { type GssAcceptor, type GssContext, GssError, type GssStep } from "./gss-context.ts";

type Koffi = typeof import("koffi");
/** An address in the library's memory. */
type Handle = bigint | null;
interface GssBuffer {
  length: number;
  value: Handle;
}

/** MIT's implementation of GSS-API with Kerberos, as systems install it. */
const LIBRARY = "libgssapi_krb5.so.2";
const GSS_C_ACCEPT = 2;
const GSS_S_CONTINUE_NEEDED = 1;
/** Routine errors and calling errors; the lower half are supplementary bits. */
const ERRORS = 0xffff0000;
const GSS_C_GSS_CODE = 1;
const GSS_C_MECH_CODE = 2;
const INDEFINITE = 0xffffffff;

/**
 * Opens the credentials of a service.
 *
 * @param principal of the service, `zookeeper/host@REALM`
 * @throws GssError with what is missing: the package koffi, the system's library, or the keytab's
 *   key
 */
export function openGssAcceptor({
  principal,
  keyTab,
}: {
  readonly principal: string;
  readonly keyTab: string;
}): GssAcceptor {
  const library = openLibrary();
  const credential = library.acquire(principal, keyTab);
  return { context: () => new LibraryContext(library, credential) };
}

function openLibrary(): GssLibrary {
  let koffi: Koffi;
  try {
    koffi = createRequire(import.meta.url)("koffi") as Koffi;
  } catch (error) {
    throw new GssError("it needs the package koffi, which is not installed: npm install koffi", { cause: error });
  }
  try {
    return new GssLibrary(koffi);
  } catch (error) {
    throw new GssError(
      `it needs ${LIBRARY} of MIT Kerberos, which cannot be loaded (Debian's package libgssapi-krb5-2 has it): ${error instanceof Error ? error.message : error}`,
      { cause: error },
    );
  }
}

/**
 * The functions of RFC 2744 that an acceptor needs. They are called on the event loop: a step is
 * arithmetic and a look at the keytab, without the network. Memory of the library's is copied and
 * released here.
 */
class GssLibrary {
  readonly #koffi: Koffi;
  readonly #functions: ReturnType<typeof declare>;
  readonly #krb5Only: Handle;

  constructor(koffi: Koffi) {
    this.#koffi = koffi;
    const library = koffi.load(LIBRARY);
    this.#functions = declare(koffi, library);
    this.#krb5Only = koffi.decode(library.symbol("gss_mech_set_krb5"), "void *");
  }

  acquire(principal: string, keyTab: string): Handle {
    const { importName, acquireCredFrom, releaseName } = this.#functions;
    const [minor, name, credential] = [[0], [null as Handle], [null as Handle]];
    const value = new TextEncoder().encode(principal);
    this.#check(importName(minor, { length: value.length, value }, null, name), minor);
    try {
      const store = { count: 1, elements: { key: "keytab", value: `FILE:${keyTab}` } };
      const status = acquireCredFrom(
        ...[minor, name[0], INDEFINITE, this.#krb5Only, GSS_C_ACCEPT, store, credential, null, null],
      );
      this.#check(status, minor);
    } finally {
      releaseName([0], name);
    }
    return credential[0] ?? null;
  }

  /** @param context of the first call null; replaced by the library */
  accept(context: Handle[], credential: Handle, token: Uint8Array): GssStep {
    const { acceptSecContext, releaseName } = this.#functions;
    const [minor, client, output]: [number[], Handle[], GssBuffer] = [[0], [null], { length: 0, value: null }];
    const input = { length: token.length, value: token };
    const status = acceptSecContext(
      ...[minor, context, credential, input, null, client, null, output, null, null, null],
    );
    try {
      const answer = this.#taken(output);
      this.#check(status, minor);
      const isEstablished = (status & GSS_S_CONTINUE_NEEDED) === 0;
      return { token: answer, client: isEstablished ? this.#nameOf(client[0] ?? null) : undefined };
    } finally {
      releaseName([0], client);
    }
  }

  wrap(context: Handle, message: Uint8Array): Uint8Array {
    const [minor, output]: [number[], GssBuffer] = [[0], { length: 0, value: null }];
    const input = { length: message.length, value: message };
    this.#check(this.#functions.wrap(minor, context, 0, 0, input, null, output), minor);
    return this.#taken(output);
  }

  unwrap(context: Handle, wrapped: Uint8Array): Uint8Array {
    const [minor, output]: [number[], GssBuffer] = [[0], { length: 0, value: null }];
    const input = { length: wrapped.length, value: wrapped };
    this.#check(this.#functions.unwrap(minor, context, input, output, null, null), minor);
    return this.#taken(output);
  }

  delete(context: Handle[]): void {
    this.#functions.deleteSecContext([0], context, null);
  }

  #nameOf(name: Handle): string {
    const [minor, output]: [number[], GssBuffer] = [[0], { length: 0, value: null }];
    this.#check(this.#functions.displayName(minor, name, output, null), minor);
    return textOf(this.#taken(output));
  }

  /** A copy of what the library has allocated, which is released. */
  #taken(output: GssBuffer): Uint8Array {
    if (output.value === null || output.length === 0) return new Uint8Array();
    const bytes = Uint8Array.from(this.#koffi.decode(output.value, "uint8_t", output.length) as ArrayLike<number>);
    this.#functions.releaseBuffer([0], output);
    return bytes;
  }

  #check(status: number, [minor = 0]: readonly number[]): void {
    if ((status & ERRORS) === 0) return;
    const [major, detail] = [
      this.#describe(status, GSS_C_GSS_CODE),
      minor === 0 ? "" : this.#describe(minor, GSS_C_MECH_CODE),
    ];
    throw new GssError(detail === "" ? major : `${major}: ${detail}`);
  }

  #describe(status: number, kind: number): string {
    const [minor, more, output]: [number[], number[], GssBuffer] = [[0], [0], { length: 0, value: null }];
    this.#functions.displayStatus(minor, status >>> 0, kind, null, more, output);
    return textOf(this.#taken(output)).trim();
  }
}

class LibraryContext implements GssContext {
  /** Frees the contexts of connections that end within an exchange. */
  static readonly #dropped = new FinalizationRegistry<() => void>((free) => free());
  readonly #library: GssLibrary;
  readonly #credential: Handle;
  readonly #context: Handle[] = [null];

  constructor(library: GssLibrary, credential: Handle) {
    this.#library = library;
    this.#credential = credential;
    const context = this.#context;
    LibraryContext.#dropped.register(this, () => library.delete(context), this);
  }

  accept(token: Uint8Array): GssStep {
    return this.#library.accept(this.#context, this.#credential, token);
  }

  wrap(message: Uint8Array): Uint8Array {
    return this.#library.wrap(this.#context[0] ?? null, message);
  }

  unwrap(wrapped: Uint8Array): Uint8Array {
    return this.#library.unwrap(this.#context[0] ?? null, wrapped);
  }

  dispose(): void {
    LibraryContext.#dropped.unregister(this);
    if (this.#context[0] !== null) this.#library.delete(this.#context);
  }
}

type Type = string | ReturnType<Koffi["struct"]> | ReturnType<Koffi["out"]>;

function declare(koffi: Koffi, library: ReturnType<Koffi["load"]>) {
  const input = koffi.pointer(koffi.struct({ length: "size_t", value: "const uint8_t *" }));
  const buffer = koffi.struct({ length: "size_t", value: "void *" });
  const output = koffi.out(koffi.pointer(buffer));
  const element = koffi.struct({ key: "const char *", value: "const char *" });
  const store = koffi.pointer(koffi.struct({ count: "uint32_t", elements: koffi.pointer(element) }));
  const minor = koffi.out(koffi.pointer("uint32_t"));
  const newHandle = koffi.out(koffi.pointer("void *"));
  const handle = koffi.inout(koffi.pointer("void *"));
  const of = (name: string, ...types: Type[]) => library.func(`gss_${name}`, "uint32_t", [minor, ...types]);
  return {
    importName: of("import_name", input, "void *", newHandle),
    acquireCredFrom: of(
      ...(["acquire_cred_from", "void *", "uint32_t", "void *", "int", store, newHandle, "void *", "void *"] as const),
    ),
    acceptSecContext: of(
      ...(["accept_sec_context", handle, "void *", input, "void *", newHandle, "void *"] as const),
      ...([output, "void *", "void *", "void *"] as const),
    ),
    displayName: of("display_name", "void *", output, "void *"),
    displayStatus: of("display_status", "uint32_t", "int", "void *", koffi.inout(koffi.pointer("uint32_t")), output),
    wrap: of("wrap", "void *", "int", "uint32_t", input, "void *", output),
    unwrap: of("unwrap", "void *", input, output, "void *", "void *"),
    releaseBuffer: of("release_buffer", koffi.inout(koffi.pointer(buffer))),
    releaseName: of("release_name", handle),
    deleteSecContext: of("delete_sec_context", handle, "void *"),
  };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
