export {
  type Arithmetic,
  AtomicInteger,
  AtomicLong,
  AtomicNumber,
  type AtomicOptions,
  type Changed,
} from "./atomic-number.ts";
export { Barrier } from "./barrier.ts";
export { CachedAtomic } from "./cached-atomic.ts";
export { type ClusterEvent, type ClusterMember, ClusterMonitor } from "./cluster-monitor.ts";
export { ConfigCenter, type ConfigCenterOptions, type ConfigSnapshot, type RejectedValue } from "./config-center.ts";
export { DelayQueue } from "./delay-queue.ts";
export type { LockDialect, ReadWriteDialect } from "./dialect.ts";
export { type DiscoveryHandlerOptions, discoveryHandler } from "./discovery-handler.ts";
export { DistributedQueue } from "./distributed-queue.ts";
export { DoubleBarrier, type DoubleBarrierOptions } from "./double-barrier.ts";
export type { DownInstancePolicy } from "./down-instances.ts";
export { GroupMember, type Members } from "./group-member.ts";
export { revoke } from "./hold.ts";
export type { Holder } from "./holder.ts";
export { IdGenerator, type IdGeneratorOptions, type IdStrategy } from "./id-generator.ts";
export { IdQueue } from "./id-queue.ts";
export type { InstanceCleanup, InstanceCleanupOptions } from "./instance-cleanup.ts";
export { type Candidate, LeaderLatch, type LeaderLatchOptions } from "./leader-latch.ts";
export { type Lead, LeaderSelector, type LeaderSelectorOptions } from "./leader-selector.ts";
export type { Grant, HoldOptions, Lease, LostReason } from "./lease.ts";
export type { LeaseGroup } from "./lease-group.ts";
export { type LockedItem, LockingQueue, type PriorityOptions } from "./locking-queue.ts";
export {
  MASTER_NAMES,
  MasterCluster,
  MasterElection,
  type MasterElectionOptions,
  type MasterNames,
} from "./master-election.ts";
export { MultiLock, type MultiLockOptions } from "./multi-lock.ts";
export { type AcquireOptions, Mutex, type MutexOptions, type Owned, type TryOptions } from "./mutex.ts";
export { NamingService } from "./naming-service.ts";
export type { Participant } from "./participants.ts";
export type { WaitOptions } from "./patience.ts";
export { PersistentNode, type PersistentNodeOptions } from "./persistent-node.ts";
export { PersistentTtlNode, type PersistentTtlNodeOptions } from "./persistent-ttl-node.ts";
export { PriorityQueue } from "./priority-queue.ts";
export { type ProviderStrategy, strategies } from "./provider-strategy.ts";
export { type LockSide, ReadWriteLock, type ReadWriteLockOptions } from "./read-write-lock.ts";
export { isRecipeError, RecipeError, type RecipeErrorCode } from "./recipe-error.ts";
export { type AcquireLeasesOptions, Semaphore, SemaphoreMutex, type SemaphoreOptions } from "./semaphore.ts";
export { ServiceCache } from "./service-cache.ts";
export {
  type LastingInstance,
  type NewService,
  Registration,
  type ServiceDetails,
  ServiceDiscovery,
} from "./service-discovery.ts";
export { type InstanceFormat, instanceCodec, type ServiceInstance, type ServiceType } from "./service-instance.ts";
export { ServiceProvider, type ServiceProviderOptions } from "./service-provider.ts";
export { SetPartitioner, type SetPartitionerOptions, type ShareWork } from "./set-partitioner.ts";
export { SharedCount, SharedValue, type SharedValueOptions, type Versioned } from "./shared-value.ts";
export { SimpleQueue } from "./simple-queue.ts";
export { Topic } from "./topic.ts";
export { type CacheChange, type CachedNode, TreeCache, type TreeCacheOptions } from "./tree-cache.ts";
export { UnfairElection, type UnfairElectionOptions } from "./unfair-election.ts";
export { UnfairLock, type UnfairLockOptions } from "./unfair-lock.ts";
export { buildUri, parseUriSpec, type UriPart, type UriSource, type UriSpec } from "./uri-spec.ts";
export type { Lock } from "./use-lease.ts";
export type {
  ConsumeOptions,
  Consumer,
  DeliveryBound,
  ItemContext,
  QueueOptions,
  Work,
  WorkQueue,
} from "./work-queue.ts";
