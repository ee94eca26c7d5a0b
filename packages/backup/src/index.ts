export { BackupError, type BackupErrorCode, type BackupErrorDetail } from "./backup-error.ts";
export {
  type BackupBase,
  type BackupFile,
  type BackupListing,
  listBackup,
  listBackupBases,
  listBackupFiles,
  missingRanges,
  parseListing,
} from "./contents/backup-listing.ts";
export { eachOf } from "./contents/each-of.ts";
export {
  fetchBase,
  fetchFile,
  readBackupFooter,
  readBackupManifest,
  readBackupPart,
  relocated,
} from "./contents/read-backup.ts";
export { planBackupPurge, planRetention, type TakenAt } from "./contents/retention.ts";
export { type BackupCheck, verifyBackup } from "./contents/verify-backup.ts";
export { type BackupTarget, type ObjectTail, objectPlace, type TargetObject } from "./targets/backup-target.ts";
export { openTarget, type TargetFault, type TargetSettings, targetFault } from "./targets/open-target.ts";
export { parseS3Credentials, type S3Credentials, s3CredentialsIn } from "./targets/s3-credentials.ts";
export { parseTargetLocation, type TargetLocation } from "./targets/target-location.ts";
export type { BackupPurge, UploadEvent } from "./upload/backup-uploader.ts";
export {
  type BackupEvent,
  type BackupStatus,
  BackupUploads,
  type BackupUploadsOptions,
  isSamePlace,
} from "./upload/backup-uploads.ts";
export { type ArchiveSource, openUploadTarget } from "./upload/open-upload-target.ts";
export type { SharedFacts } from "./upload/shared-facts.ts";
export type { UploadSettings } from "./upload/upload-messages.ts";
