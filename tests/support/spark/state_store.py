"""The settings of Spark's state store that streams of windrow need, or go faster with."""

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

#: the setting that says how Spark writes files of a checkpoint
CHECKPOINT_FILES = "spark.sql.streaming.checkpointFileManagerClass"
#: By default Spark starts `readlink` for each of them on a local disk, which took a seventh of the
#: time of streams. Tests that kill, and all other sessions, keep the default.
BY_FILE_SYSTEM = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
