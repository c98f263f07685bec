//! Attaches HULL to a device, completely or not at all.
//!
//! In this order: `fq` as the device's root queue and one segment per packet (with the pacer); BPF maps,
//! shared by the devices of a network namespace and pinned in hull's own bpf file system
//! (`/run/hull/bpf`), with the device's entries; a clsact queue with hull's filters at priority 1; a record
//! on disk of the device's previous settings. If a step fails, the steps before it are undone. An
//! attachment outlives the command.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use bytemuck::{Zeroable, bytes_of};
use hull_core::flow_association::{FlowAssociationConfig, WhenFull};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapHandle, OpenMapMut, TC_EGRESS, TC_INGRESS, TcHookBuilder};

use crate::machine;
use crate::maps::{self, SLOTS};
use crate::problem::{Problem, input};
use crate::programs::{pacer::PacerSkelBuilder, phantom_queue::PhantomQueueSkelBuilder};
use crate::record::{Record, folder, pins, record, record_path, records, write_record};
use crate::settings::{Phantom, Settings};

/// Priority of hull's filters: before all others.
const PRIORITY: u32 = 1;
/// Handles that identify hull's filters.
const HANDLE_PHANTOM: u32 = 0x4851;
const HANDLE_PACER: u32 = 0x4852;

/// Steps to undo, last first, unless the attachment is kept.
#[derive(Default)]
struct Undo(Vec<Box<dyn FnOnce()>>);

impl Undo {
    fn push(&mut self, step: impl FnOnce() + 'static) {
        self.0.push(Box::new(step));
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        while let Some(step) = self.0.pop() {
            step();
        }
    }
}

/// Attaches a device. With `replace` it may displace a root queue set by the administrator. Returns
/// `false` if the device is already attached with the same settings.
pub fn attach(device: &str, settings: &Settings, replace: bool) -> Result<bool, Problem> {
    settings.check()?;
    let ifindex = machine::ifindex(device)?;
    if let Some(found) = record(device)? {
        if found.ifindex != ifindex {
            forget(&found)?;
        } else if found.settings == *settings {
            return Ok(false);
        } else {
            return input(format!(
                "{device}: it is attached with other settings; change them with hull linux set, or detach it first"
            ));
        }
    }
    if let Some(speed) = machine::link_rate(device).filter(|&speed| settings.rate_bps > speed) {
        return input(format!(
            "{device}: --rate {} is invalid; expected up to the link's {}",
            crate::settings::bps(settings.rate_bps),
            crate::settings::bps(speed)
        ));
    }
    let (root, has_clsact) = machine::queues(device)?;
    let mut record = Record {
        device: device.to_owned(),
        ifindex,
        slot: free_slot()?,
        settings: settings.clone(),
        began_ns: machine::monotonic_ns(),
        clsact_is_ours: !has_clsact,
        replaced_root: None,
        gso_max_segs: None,
    };

    let mut undo = Undo::default();
    if settings.pacer {
        take_root_queue(device, &root, replace, &mut record, &mut undo)?;
    }
    load(&record, &mut undo)?;
    write_record(&record)?;
    undo.keep();
    Ok(true)
}

/// Makes `fq` the root queue, and limits packets to one segment.
fn take_root_queue(
    device: &str,
    root: &machine::Root,
    replace: bool,
    record: &mut Record,
    undo: &mut Undo,
) -> Result<(), Problem> {
    if root.kind != "fq" {
        if !root.by_kernel && !replace {
            return input(format!(
                "{device}: its queue is a foreign {}; expected fq or the kernel's default; --replace displaces it",
                root.kind
            ));
        }
        // Without `nopacing`, fq would also make TCP pace every flow's packets over its round trip.
        let fq = ["qdisc", "replace", "dev", device, "root", "fq", "nopacing"];
        machine::call("tc", &fq).map_err(|problem| {
            Problem::Input(format!(
                "{device}: the pacer needs the fq queue, which this kernel lacks ({problem}); load it with \
                 modprobe sch_fq (CONFIG_NET_SCH_FQ), or attach with --pacer off"
            ))
        })?;
        record.replaced_root = Some(root.kind.clone());
        let device = device.to_owned();
        undo.push(move || {
            let _ = machine::call("tc", &["qdisc", "del", "dev", &device, "root"]);
        });
    }
    if !record.settings.keep_gso {
        let before = machine::gso_max_segs(device)?;
        machine::set_gso_max_segs(device, 1)?;
        record.gso_max_segs = Some(before);
        let device = device.to_owned();
        undo.push(move || {
            let _ = machine::set_gso_max_segs(&device, before);
        });
    }
    Ok(())
}

/// Loads the programs, fills their maps and installs the filters.
fn load(record: &Record, undo: &mut Undo) -> Result<(), Problem> {
    let settings = &record.settings;
    std::fs::create_dir_all(pins()?)?;
    let device = record.clone();
    undo.push(move || {
        let _ = remove_filters(&device);
        let _ = remove_entries(&device);
    });
    let mut hooks = Vec::new();
    let mut storage = MaybeUninit::uninit();
    let phantom;
    if settings.phantom != Phantom::Off {
        let mut open = PhantomQueueSkelBuilder::default().open(&mut storage)?;
        let constants = open.maps.rodata_data.as_deref_mut();
        constants.expect("the program has constants").slot = record.slot;
        for map in [
            &mut open.maps.phantom_settings,
            &mut open.maps.phantom_queues,
        ] {
            pin(map)?;
        }
        phantom = open.load()?;
        let point = match settings.phantom {
            Phantom::Egress => TC_EGRESS,
            _ => TC_INGRESS,
        };
        hooks.push((&phantom.progs.phantom, point, HANDLE_PHANTOM));
    }
    let mut storage = MaybeUninit::uninit();
    let pacer;
    if settings.pacer {
        let mut open = PacerSkelBuilder::default().open(&mut storage)?;
        let constants = open.maps.rodata_data.as_deref_mut();
        constants.expect("the program has constants").slot = record.slot;
        for map in [
            &mut open.maps.association_settings,
            &mut open.maps.associations,
            &mut open.maps.association_counts,
            &mut open.maps.pacer_settings,
            &mut open.maps.pacers,
        ] {
            pin(map)?;
        }
        pacer = open.load()?;
        hooks.push((&pacer.progs.association_ingress, TC_INGRESS, HANDLE_PACER));
        hooks.push((&pacer.progs.pacer_egress, TC_EGRESS, HANDLE_PACER));
    }
    write_entries(record, true)?;
    for (program, point, handle) in hooks {
        let mut builder = TcHookBuilder::new(program.as_fd());
        builder
            .ifindex(record.ifindex as i32)
            .replace(false)
            .handle(handle)
            .priority(PRIORITY);
        let mut hook = builder.hook(point);
        hook.create().map_err(|error| {
            Problem::Input(format!(
                "{}: found no clsact queue in this kernel ({error:#}); load it with modprobe sch_ingress \
                 (CONFIG_NET_SCH_INGRESS)",
                record.device
            ))
        })?;
        hook.attach().map_err(|error| {
            Problem::Input(format!(
                "{}: a foreign filter holds priority {PRIORITY} ({error:#}); expected a free one; remove it \
                 with tc filter del",
                record.device
            ))
        })?;
    }
    Ok(())
}

fn pin(map: &mut OpenMapMut<'_>) -> Result<(), Problem> {
    let path = pins()?.join(map.name());
    Ok(map.set_pin_path(path)?)
}

fn map(name: &str) -> Result<MapHandle, Problem> {
    Ok(MapHandle::from_pinned_path(pins()?.join(name))?)
}

fn put(name: &str, key: &[u8], value: &[u8]) -> Result<(), Problem> {
    Ok(map(name)?.update(key, value, MapFlags::ANY)?)
}

/// Finds a slot that no device of this network namespace uses.
fn free_slot() -> Result<u32, Problem> {
    let taken: Vec<u32> = records()?.iter().map(|record| record.slot).collect();
    match (0..SLOTS).find(|slot| !taken.contains(slot)) {
        Some(slot) => Ok(slot),
        None => input(format!(
            "{SLOTS} devices are attached, which is the maximum; detach one"
        )),
    }
}

/// Writes a device's settings and, with `fresh`, its state and counters.
fn write_entries(record: &Record, fresh: bool) -> Result<(), Problem> {
    let settings = &record.settings;
    let key = record.slot.to_ne_bytes();
    if settings.phantom != Phantom::Off {
        if fresh {
            put(
                "phantom_queues",
                &key,
                bytes_of(&maps::PhantomQueue::zeroed()),
            )?;
        }
        let phantom = maps::PhantomSettings::from(&settings.phantom_queue());
        put("phantom_settings", &key, bytes_of(&phantom))?;
    }
    if settings.pacer {
        if fresh {
            put(
                "association_counts",
                &key,
                bytes_of(&maps::AssociationCounts::zeroed()),
            )?;
            put("pacers", &key, bytes_of(&maps::Pacer::zeroed()))?;
        }
        let association = maps::AssociationSettings::from(&FlowAssociationConfig {
            entries: 4096,
            probability: settings.probability(),
            timeout_ps: settings.association_timeout_ns * 1000,
            when_full: WhenFull::EvictOldest,
        });
        put("association_settings", &key, bytes_of(&association))?;
        let pacer = maps::PacerSettings::new(&settings.departure_pacer(), record.began_ns);
        put("pacer_settings", &key, bytes_of(&pacer))?;
    }
    Ok(())
}

/// Changes the settings of an attached device; the programs stay attached.
pub fn set(device: &str, settings: &Settings) -> Result<(), Problem> {
    settings.check()?;
    let Some(mut record) = record(device)? else {
        return input(format!(
            "{device}: it is not attached; attach it with hull linux attach"
        ));
    };
    let (old, new) = (&record.settings, settings);
    if (old.phantom, old.pacer, old.keep_gso) != (new.phantom, new.pacer, new.keep_gso) {
        return input(format!(
            "{device}: --phantom, --pacer and --keep-gso cannot change while it is attached; detach it first"
        ));
    }
    record.settings = settings.clone();
    write_entries(&record, false)?;
    write_record(&record)
}

fn remove_filters(record: &Record) -> Result<(), Problem> {
    // Another device may have taken over the name, so the index decides.
    if machine::ifindex(&record.device).ok() != Some(record.ifindex) {
        return Ok(());
    }
    for (handle, direction) in [
        (HANDLE_PHANTOM, "egress"),
        (HANDLE_PHANTOM, "ingress"),
        (HANDLE_PACER, "egress"),
        (HANDLE_PACER, "ingress"),
    ] {
        let handle = format!("{handle:#x}");
        let priority = PRIORITY.to_string();
        let filter = [
            "filter",
            "del",
            "dev",
            &record.device,
            direction,
            "handle",
            &handle,
            "prio",
            &priority,
            "bpf",
        ];
        // Not every device has all four.
        let _ = machine::call("tc", &filter);
    }
    if record.clsact_is_ours && !has_filters(&record.device)? {
        let _ = machine::call("tc", &["qdisc", "del", "dev", &record.device, "clsact"]);
    }
    Ok(())
}

/// Whether a device's clsact has any filters.
fn has_filters(device: &str) -> Result<bool, Problem> {
    for direction in ["ingress", "egress"] {
        let text = machine::call("tc", &["-j", "filter", "show", "dev", device, direction])?;
        let listed: Vec<serde_json::Value> = serde_json::from_str(text.trim()).unwrap_or_default();
        if !listed.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn remove_entries(record: &Record) -> Result<(), Problem> {
    // Settings of zero: the programs pass every packet.
    let key = record.slot.to_ne_bytes();
    let _ = put(
        "phantom_settings",
        &key,
        bytes_of(&maps::PhantomSettings::zeroed()),
    );
    let _ = put(
        "association_settings",
        &key,
        bytes_of(&maps::AssociationSettings::zeroed()),
    );
    let _ = put(
        "pacer_settings",
        &key,
        bytes_of(&maps::PacerSettings::zeroed()),
    );
    let others = records()?.iter().any(|other| other.device != record.device);
    if !others {
        let _ = std::fs::remove_dir_all(pins()?);
    }
    Ok(())
}

/// Removes the state of a device that no longer exists.
fn forget(record: &Record) -> Result<(), Problem> {
    remove_entries(record)?;
    std::fs::remove_file(record_path(&record.device)?)?;
    let _ = std::fs::remove_dir(folder()?);
    Ok(())
}

/// Detaches a device. Returns a description of what could not be restored.
pub fn detach(device: &str) -> Result<Option<String>, Problem> {
    let Some(record) = record(device)? else {
        machine::ifindex(device)?;
        return input(format!(
            "{device}: it is not attached; hull linux status lists the attached devices"
        ));
    };
    if machine::ifindex(device).ok() != Some(record.ifindex) {
        forget(&record)?;
        return Ok(Some(
            "the device no longer exists; only its record was removed".to_owned(),
        ));
    }
    remove_filters(&record)?;
    if let Some(segments) = record.gso_max_segs {
        machine::set_gso_max_segs(device, segments)?;
    }
    let mut remark = None;
    if let Some(before) = &record.replaced_root {
        let (root, _) = machine::queues(device)?;
        if root.kind == "fq" {
            machine::call("tc", &["qdisc", "del", "dev", device, "root"])?;
        }
        let (root, _) = machine::queues(device)?;
        if root.kind != *before {
            remark = Some(format!(
                "the queue is now the kernel's {}; before attach it was {before}",
                root.kind
            ));
        }
    }
    forget(&record)?;
    Ok(remark)
}

/// Value of a key in a map, as plain data.
pub fn read<T: bytemuck::AnyBitPattern>(name: &str, key: &[u8]) -> Result<Option<T>, Problem> {
    let found = map(name)?.lookup(key, MapFlags::ANY)?;
    Ok(found.map(|value| bytemuck::pod_read_unaligned(&value)))
}

/// Currently associated flows of this network namespace.
pub fn associated_flows() -> Result<Vec<maps::Flow>, Problem> {
    let map = map("associations")?;
    let now_ns = machine::monotonic_ns();
    let mut flows = Vec::new();
    for key in map.keys() {
        // The program may have removed the entry since.
        let value = map.lookup(&key, MapFlags::ANY)?;
        if value.is_some_and(|value| now_ns < bytemuck::pod_read_unaligned::<u64>(&value)) {
            flows.push(bytemuck::pod_read_unaligned(&key));
        }
    }
    Ok(flows)
}
