export { Barrier } from "./barriers/barrier.ts";
export { DoubleBarrier, type DoubleBarrierOptions } from "./barriers/double-barrier.ts";
export { type ClusterEvent, type ClusterMember, ClusterMonitor } from "./caches/cluster-monitor.ts";
export {
  ConfigCenter,
  type ConfigCenterOptions,
  type ConfigCenterPlace,
  type ConfigCodecs,
  type ConfigSnapshot,
  type RejectedValue,
} from "./caches/config-center.ts";
export { Topic } from "./caches/topic.ts";
export { type CacheChange, type CachedNode, TreeCache, type TreeCacheOptions } from "./caches/tree-cache.ts";
export {
  type Arithmetic,
  AtomicInteger,
  AtomicLong,
  AtomicNumber,
  type AtomicOptions,
  type Changed,
} from "./counters/atomic-number.ts";
export { CachedAtomic } from "./counters/cached-atomic.ts";
export { IdGenerator, type IdGeneratorOptions, type IdStrategy } from "./counters/id-generator.ts";
export { SharedCount, SharedValue, type SharedValueOptions, type Versioned } from "./counters/shared-value.ts";
export { type DiscoveryHandlerOptions, discoveryHandler } from "./discovery/discovery-handler.ts";
export type { DownInstancePolicy } from "./discovery/down-instances.ts";
export type { InstanceCleanup, InstanceCleanupOptions } from "./discovery/instance-cleanup.ts";
export { NamingService } from "./discovery/naming-service.ts";
export { type ProviderStrategy, strategies } from "./discovery/provider-strategy.ts";
export { ServiceCache } from "./discovery/service-cache.ts";
export {
  type LastingInstance,
  type NewService,
  Registration,
  type ServiceDetails,
  ServiceDiscovery,
} from "./discovery/service-discovery.ts";
export {
  type InstanceFormat,
  instanceCodec,
  type ServiceInstance,
  type ServiceType,
} from "./discovery/service-instance.ts";
export { ServiceProvider, type ServiceProviderOptions } from "./discovery/service-provider.ts";
export { buildUri, parseUriSpec, type UriPart, type UriSource, type UriSpec } from "./discovery/uri-spec.ts";
export { type Candidate, candidatesOf, LeaderLatch, type LeaderLatchOptions } from "./elections/leader-latch.ts";
export { type Lead, LeaderSelector, type LeaderSelectorOptions } from "./elections/leader-selector.ts";
export {
  MASTER_NAMES,
  MasterCluster,
  MasterElection,
  type MasterElectionOptions,
  type MasterNames,
} from "./elections/master-election.ts";
export { UnfairElection, type UnfairElectionOptions } from "./elections/unfair-election.ts";
export type { WaitOptions } from "./leases/deadline.ts";
export { revoke } from "./leases/hold.ts";
export type { Holder } from "./leases/holder.ts";
export type { Grant, HoldOptions, Lease, LostReason } from "./leases/lease.ts";
export type { LeaseGroup } from "./leases/lease-group.ts";
export type { Participant } from "./leases/participants.ts";
export type { Lock } from "./leases/use-lease.ts";
export type { ContenderForm } from "./locks/child-names.ts";
export type { LockDialect, ReadWriteDialect } from "./locks/dialect.ts";
export { MultiLock, type MultiLockOptions } from "./locks/multi-lock.ts";
export { type AcquireOptions, Mutex, type MutexOptions, type Owned, type TryOptions } from "./locks/mutex.ts";
export { type LockSide, ReadWriteLock, type ReadWriteLockOptions } from "./locks/read-write-lock.ts";
export { type AcquireLeasesOptions, Semaphore, SemaphoreMutex, type SemaphoreOptions } from "./locks/semaphore.ts";
export { UnfairLock, type UnfairLockOptions } from "./locks/unfair-lock.ts";
export { GroupMember, type GroupMemberOptions, type Members } from "./members/group-member.ts";
export {
  PersistentNode,
  type PersistentNodeOptions,
  type PersistentNodeState,
  type WhenTaken,
} from "./members/persistent-node.ts";
export { PersistentTtlNode, type PersistentTtlNodeOptions } from "./members/persistent-ttl-node.ts";
export { SetPartitioner, type SetPartitionerOptions, type ShareWork } from "./members/set-partitioner.ts";
export type { ConsumeOptions, DeliveryBound } from "./queues/consume-options.ts";
export { DelayQueue } from "./queues/delay-queue.ts";
export { DistributedQueue } from "./queues/distributed-queue.ts";
export { IdQueue } from "./queues/id-queue.ts";
export { type LockedItem, LockingQueue, type PriorityOptions } from "./queues/locking-queue.ts";
export { PriorityQueue } from "./queues/priority-queue.ts";
export type { Consumer, ItemContext, Work } from "./queues/queue-consumer.ts";
export { SimpleQueue } from "./queues/simple-queue.ts";
export type { QueueOptions, WorkQueue } from "./queues/work-queue.ts";
export { RateLimiter, type RateLimiterOptions } from "./rates/rate-limiter.ts";
export { isRecipeError, RecipeError, type RecipeErrorCode } from "./recipe-error.ts";
export { Cron, type CronOptions, type CronRun, type CronSchedule, type CronWork } from "./schedules/cron.ts";
export type { CronRecord } from "./schedules/cron-record.ts";
export type { MissedPolicy } from "./schedules/due-runs.ts";
