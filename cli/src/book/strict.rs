//! JSON in which no object has a field twice. The library takes the last of them, and nobody would know of the first.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// An object, in the order of its fields' names.
pub(super) type Object = Map<String, Value>;

/// A value none of whose objects has a field twice.
pub(super) struct Strict(pub(super) Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some((name, Strict(value))) = fields.next_entry::<String, Strict>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!("{name:?} stands there twice")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_the_library_reads_them_but_for_fields_that_stand_there_twice() {
        for text in ["null", "[1,-2,3.5,true,\"a\\u00e9\"]", "{\"a\":{\"b\":[{}]},\"b\":null}"] {
            let Strict(value) = serde_json::from_str(text).unwrap();
            assert_eq!(value, serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
        for text in ["{\"a\":1,\"a\":1}", "[{\"b\":{\"a\":1,\"c\":2,\"a\":3}}]"] {
            let error = serde_json::from_str::<Strict>(text).err().unwrap();
            assert!(error.is_data() && error.to_string().starts_with("\"a\" stands there twice"), "{error}");
        }
    }
}
