export { type JaasModule, parseJaas } from "./jaas-file.ts";
export {
  certificatesOf,
  type IdentityMaterial,
  identityOf,
  type KeyStoreType,
  keyStoreFiles,
  keyStoreType,
  type OpenedKeyStore,
  openKeyStore,
} from "./key-store.ts";
export { pemBlocks } from "./pem-blocks.ts";
