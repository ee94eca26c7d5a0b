/** A subtree as a file of JSON lines, which the command line and the console write and read. */
export {
  type AclEntryJson,
  aclJson,
  aclOf,
  hasHiddenHash,
  type PermissionName,
} from "./subtrees/acl-json.ts";
export {
  endLine,
  headerLine,
  nodeLine,
  nodesOf,
  type SubtreeData,
  SubtreeFileError,
  type SubtreeLine,
  type SubtreeNode,
  subtreeBytes,
  subtreeData,
} from "./subtrees/subtree-file.ts";
