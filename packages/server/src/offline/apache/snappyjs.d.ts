/** The part of snappyjs that this package uses; the library brings no types of its own. */
declare module "snappyjs" {
  /** @throws Error for what is no block, or says that it unpacks to more than `bytesMax` */
  export function uncompress(block: Buffer, bytesMax?: number): Buffer;
  export function compress(bytes: Buffer): Buffer;
}
