// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/picture.h"

#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

constexpr std::string_view png_magic = "\x89PNG\r\n\x1a\n", jpeg_magic = "\xff\xd8\xff";

// A header may claim any size. Neither format can say more pixels in a byte than this, so that what is allocated is
// bounded by what has been read; and no picture is larger than that.
constexpr std::size_t most_pixels = std::size_t(1) << 26, pixels_per_byte = 1 << 13;

void check_size(std::size_t width, std::size_t height, std::size_t bytes, const std::string& file) {
  if (width == 0 || height == 0 || width > most_pixels / height)
    throw Error("{}: a picture of {} x {} pixels; at most {} are read", file, height, width, most_pixels);
  if (width * height / pixels_per_byte > bytes)
    throw Error("{}: a picture of {} x {} pixels cannot be in {} bytes; the file is damaged or cut short", file, height,
                width, bytes);
}

[[noreturn]] void damaged(const std::string& file) {
  throw Error("{}: the picture cannot be read; the file is damaged or cut short", file);
}

// Both libraries leave by longjmp where they fail: what must be destroyed lies outside the functions that they leave.

struct PngReader {
  std::string_view rest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::uint8_t> pixels;
  std::vector<png_bytep> lines;
  std::size_t width = 0, height = 0, channels = 0;
  int depth = 0;

  PngReader(std::string_view bytes) : rest(bytes) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, failed, [](png_structp, png_const_charp) {});
    if (png) info = png_create_info_struct(png);
    if (info) png_set_read_fn(png, this, read);
  }
  PngReader(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }

  static void failed(png_structp png, png_const_charp) { png_longjmp(png, 1); }
  static void read(png_structp png, png_bytep to, std::size_t count) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self.rest.size()) failed(png, "");
    std::memcpy(to, self.rest.data(), count);
    self.rest.remove_prefix(count);
  }

  bool header() {
    if (!info || setjmp(png_jmpbuf(png))) return false;
    png_read_info(png, info);
    width = png_get_image_width(png, info);
    height = png_get_image_height(png, info);
    depth = png_get_bit_depth(png, info);
    png_set_expand(png);
    png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    channels = png_get_channels(png, info);
    return true;
  }
  bool body() {
    if (setjmp(png_jmpbuf(png))) return false;
    png_read_image(png, lines.data());
    png_read_end(png, nullptr);
    return true;
  }
};

Picture parse_png(std::string_view bytes, const std::string& file) {
  PngReader reader(bytes);
  if (!reader.header()) damaged(file);
  check_size(reader.width, reader.height, bytes.size(), file);
  if (reader.depth > 8) throw Error("{}: has {} bits a channel; save it with 8", file, reader.depth);
  if (reader.channels != 1 && reader.channels != 3) damaged(file);
  const std::size_t line = reader.width * reader.channels;
  reader.pixels.resize(reader.height * line);
  for (std::size_t y = 0; y < reader.height; ++y) reader.lines.push_back(reader.pixels.data() + y * line);
  if (!reader.body()) damaged(file);
  return {{reader.channels, reader.height, reader.width}, std::move(reader.pixels)};
}

struct JpegReader {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf way_out;
  std::vector<std::uint8_t> pixels;

  JpegReader() {
    jpeg.err = jpeg_std_error(&errors);
    jpeg.client_data = this;
    errors.error_exit = [](j_common_ptr j) { std::longjmp(static_cast<JpegReader*>(j->client_data)->way_out, 1); };
    errors.emit_message = [](j_common_ptr j, int level) {  // below 0 are warnings of damaged data
      if (level < 0) j->err->error_exit(j);
    };
    errors.output_message = [](j_common_ptr) {};
  }
  JpegReader(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }

  bool header(std::string_view bytes) {
    if (setjmp(way_out)) return false;
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    return jpeg_read_header(&jpeg, TRUE) == JPEG_HEADER_OK;
  }
  bool body() {
    if (setjmp(way_out)) return false;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW line =
          pixels.data() + std::size_t(jpeg.output_scanline) * jpeg.output_width * std::size_t(jpeg.output_components);
      jpeg_read_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_decompress(&jpeg);
    return true;
  }
};

Picture parse_jpeg(std::string_view bytes, const std::string& file) {
  JpegReader reader;
  if (!reader.header(bytes)) damaged(file);
  const std::size_t width = reader.jpeg.image_width, height = reader.jpeg.image_height;
  check_size(width, height, bytes.size(), file);
  const bool grey = reader.jpeg.jpeg_color_space == JCS_GRAYSCALE;
  if (!grey && reader.jpeg.jpeg_color_space != JCS_YCbCr && reader.jpeg.jpeg_color_space != JCS_RGB)
    throw Error("{}: has the colours of a printer; save it as RGB", file);
  reader.jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
  const std::size_t channels = grey ? 1 : 3;
  reader.pixels.resize(width * height * channels);
  if (!reader.body()) damaged(file);
  return {{channels, height, width}, std::move(reader.pixels)};
}

}  // namespace

bool is_picture(std::string_view bytes) { return bytes.starts_with(png_magic) || bytes.starts_with(jpeg_magic); }

Picture parse_picture(std::string_view bytes, const std::string& file) {
  if (bytes.starts_with(png_magic)) return parse_png(bytes, file);
  if (bytes.starts_with(jpeg_magic)) return parse_jpeg(bytes, file);
  throw Error("{}: neither a PNG nor a JPEG picture", file);
}

Picture in_colour(Picture picture) {
  if (picture.shape[0] != 1) return picture;
  constexpr std::size_t channels = 3;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(channels * picture.pixels.size());
  for (const std::uint8_t grey : picture.pixels) pixels.insert(pixels.end(), channels, grey);
  return {{channels, picture.shape[1], picture.shape[2]}, std::move(pixels)};
}

}  // namespace kelvin
